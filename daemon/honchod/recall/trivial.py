"""Which prompts need no memory: greetings, bare acknowledgements, commands of the agent. Pure."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_CHARS_MAX: Final = 60
_COMMAND: Final = re.compile(r"/[A-Za-z][\w:-]*")

_PHRASES: Final = (
    # acknowledgements
    *("ok", "okay", "k", "kk", "yes", "yes please", "y", "yep", "yup", "yeah", "sure", "right", "alright"),
    *("no", "n", "nope", "nah", "no thanks", "no thank you", "fine", "good", "great", "cool", "nice"),
    *("perfect", "awesome", "excellent", "wonderful", "got it", "i see", "understood", "makes sense"),
    *("sounds good", "looks good", "lgtm", "thanks", "thank you", "thank you very much", "thanks a lot"),
    *("many thanks", "thx", "ty", "cheers", "please", "done", "next", "continue", "go on", "go ahead"),
    *("go for it", "do it", "do that", "proceed", "carry on", "never mind", "nevermind", "well done"),
    *("hm", "hmm", "ah", "aha", "oh", "wow", "lol", "haha", "np", "no problem", "you're welcome"),
    # greetings
    *("hi", "hi there", "hello", "hello there", "hey", "hey there", "yo", "howdy", "good morning"),
    *("good afternoon", "good evening", "good night", "morning", "bye", "bye bye", "goodbye"),
    *("see you", "see you later", "how are you", "what's up", "sup"),
    # the same in other languages
    *("ja", "nein", "danke", "danke schön", "vielen dank", "bitte", "genau", "hallo", "guten morgen"),
    *("guten tag", "guten abend", "tschüss", "weiter", "oui", "non", "merci", "merci beaucoup", "d'accord"),
    *("bonjour", "bonsoir", "salut", "au revoir", "sí", "si", "vale", "gracias", "muchas gracias", "hola"),
    *("buenos días", "buenas tardes", "buenas noches", "adiós", "claro", "sim", "não", "obrigado"),
    *("obrigada", "olá", "oi", "bom dia", "tchau", "grazie", "grazie mille", "ciao", "buongiorno", "va bene"),
    *("да", "нет", "спасибо", "привет", "хорошо", "ок", "пока", "好", "好的", "好吧", "是", "是的", "对"),
    *("不", "嗯", "行", "可以", "继续", "谢谢", "谢谢你", "多谢", "你好", "您好", "早上好", "晚安", "再见"),
    *(
        "はい",
        "いいえ",
        "ありがとう",
        "ありがとうございます",
        "こんにちは",
        "おはよう",
        "네",
        "아니요",
        "감사합니다",
        "안녕하세요",
    ),
)
_ONE: Final = "|".join(sorted(map(re.escape, _PHRASES), key=len, reverse=True))
_ONLY_PHRASES: Final = re.compile(f"(?:{_ONE})(?: (?:{_ONE}))*")


def is_trivial(prompt: str) -> bool:
    """Whether nothing could be looked up for this prompt: it greets, agrees, or is a command like ``/help``.

    A prompt that says anything beside that is not trivial, nor is a path like ``/etc/hosts``.
    """
    if len(prompt) > _CHARS_MAX:
        return not prompt.strip()
    if _COMMAND.fullmatch(prompt.strip()):
        return True
    words = _words(prompt)
    return not words or _ONLY_PHRASES.fullmatch(words) is not None


def _words(prompt: str) -> str:
    """The words in lower case, one space apart; no punctuation but an apostrophe inside, no emoji."""
    folded = unicodedata.normalize("NFKC", prompt).casefold().replace("\u2019", "'")
    letters = (char if _is_letter(char) else " " for char in folded)
    return " ".join(word.strip("'") for word in "".join(letters).split() if word.strip("'"))


def _is_letter(char: str) -> bool:
    return char == "'" or unicodedata.category(char)[0] in "LMN"
