"""Is what stands after a telling name a secret, or a placeholder, a reference, code or prose?

Pure decisions over one value. In doubt the answer is yes for a password and no for a word that any
sentence could hold.
"""

from __future__ import annotations

import re
from enum import Enum

from honchod.capture.secret.names import NameKind, name_kind


class Form(Enum):
    """How the value is written, from the most to the least telling."""

    QUOTED = "quoted"
    """``"name": "value"``, ``name = 'value'``."""
    SHELL = "shell"
    """``NAME=value``, ``--name=value``, ``--name value``: never the name of a variable in code."""
    TIGHT = "tight"
    """``name=value``: a configuration, or an argument of a call."""
    LINE = "line"
    """``name: value`` and nothing else on the line, as in YAML."""
    SPACED = "spaced"
    """``name = value``: an INI file, or code."""
    PROSE = "prose"
    """``name: value`` with more words behind it, or ``name is value``."""
    BESIDE = "beside"
    """``name value``."""


_PLACEHOLDER = re.compile(
    r"(?:[*•xX#?._-]{2,}"
    r"|[<(\[{].*"
    r"|\$[{(].*|\$[A-Z_][A-Z0-9_]*|\$[a-z_]+|\$[A-Za-z_]\w*(?:->|\[|\.).*"
    r"|%[({].*|%[A-Z_]+%|%[sdr]"
    r"|@[\w./~-]*|!(?:secret|vault|Ref|GetAtt|Sub|env|reference)\b.*)",
    re.DOTALL,
)
_REFERENCE = re.compile(
    r"(?:[a-z][a-z0-9+.-]{1,20}://|(?:env|file|vault|keyring|keychain|secretref|ref|arn|sops|ssm|cmd):"
    r"|(?:~|\.{1,2})/"
    r"|/(?:etc|run|var|home|usr|opt|root|tmp|mnt|srv|dev|proc|Users|app|data|secrets|workspace|work)\b/?"
    r"|[A-Za-z]:\\)"
)
_CODE = re.compile(
    r"(?:[A-Za-z_$][\w$]*(?:(?:\.|::|->)[A-Za-z_$][\w$]*){0,8}[(\[]"
    r"|(?:self|this|os|sys|process|config|cfg|conf|settings|env|environ|args|opts|options|ctx|context|req|request"
    r"|res|response|secrets|vault|data|params|kwargs|props|state|user|client|credentials|creds|import|values|var"
    r"|local|module|each|input|inputs|github|steps|core|keys|auth|session|app|obj|cls)"
    r"(?:\??\.|::|->)[\w$.>-]+)"
)
_OWNER = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
_IDENTIFIER = re.compile(r"[A-Za-z_]+")
_LOWER_WORDS = re.compile(r"[a-z]+(?:[_-][a-z]+){0,8}")
_TIMESTAMP = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ][\d:.]{4,20}(?:Z|[+-][\d:]{2,6})?)?")
_MEASURE = re.compile(r"v?\d+(?:\.\d+){0,4}[A-Za-z%]{0,5}")
_TECHNIQUE = re.compile(
    r"(?:sha|md|base|utf|aes|rsa|pbkdf|argon|ed|x|oauth|http|ipv|ascii|iso|rfc)-?\d", re.IGNORECASE
)
_LETTER = re.compile(r"[^\W\d_]")
_DIGIT = re.compile(r"[0-9]")
_WORDS = re.compile(r"[A-Za-z_.-]+")
_KEY_LIKE = re.compile(r"[A-Za-z0-9_-]+")
_CASE_CHANGE = re.compile(r"[a-z][A-Z]")

_NOTHING = (
    "above absent any apikey argument ask basic bearer below bool boolean bytes correct default digest "
    "disabled empty enabled example expired false flag here hidden incorrect int integer invalid "
    "keychain mandatory masked missing must n/a needed never nil no none not null number omitted option "
    "optional parameter pass passwd password placeholder policy prompt protected pwd redacted removed "
    "required reset same secret secretstr see set should str string strong tbd text the this todo token "
    "true undefined unknown unset user valid vault weak when wrong yes your"
)
_WORDS_FOR_NOTHING = frozenset(_NOTHING.split())
_PROSE = (
    "a an and are as ask at be by can for from has have here if in is it must my never not of on or per see "
    "should that the this to use via was when where will with you your"
)
_WORDS_OF_PROSE = frozenset(_PROSE.split())

_MIN_PASSWORD = 4
_MIN_OTHER = 8
_MIN_PROSE_PASSWORD = 6
_MIN_PROSE_OTHER = 12
_MIN_BESIDE = 16
_PASSWORDS = frozenset({NameKind.PASSWORD, NameKind.PASS})


def is_secret_value(value: str, kind: NameKind, form: Form) -> bool:
    """Whether ``value``, found behind a name of ``kind`` and written as ``form``, is to be hidden."""
    if value.lower() in _WORDS_FOR_NOTHING or is_placeholder(value) or _is_reference(value):
        return False
    if any(c.isspace() for c in value):
        words = value.lower().split()
        return kind is NameKind.PASSWORD and form is Form.QUOTED and _WORDS_OF_PROSE.isdisjoint(words)
    if form is Form.BESIDE:
        return _stands_out(value, kind)
    if form is Form.PROSE or (kind is NameKind.PASS and form is not Form.QUOTED):
        return _gives_itself_away(value, kind)
    if form not in {Form.QUOTED, Form.SHELL} and _is_variable(value, form):
        return False
    if kind in _PASSWORDS:
        return len(value) >= _MIN_PASSWORD
    if len(value) < _MIN_OTHER or not _LETTER.search(value) or _TIMESTAMP.fullmatch(value):
        return False
    if form is Form.LINE or (kind is NameKind.TOKEN and form is not Form.SHELL):
        return looks_random(value) or (form is Form.TIGHT and not _LOWER_WORDS.fullmatch(value))
    return True


def is_placeholder(value: str) -> bool:
    """``<password>``, ``${VAR}``, ``{{ x }}``, ``***`` and their kin: nothing to hide."""
    return _PLACEHOLDER.fullmatch(value) is not None


def looks_random(value: str) -> bool:
    """Letters and digits together, capitals all over the place, or long and made of no words."""
    if _DIGIT.search(value) and _LETTER.search(value):
        return True
    # Words in CamelCase change case less often than that.
    if len(_CASE_CHANGE.findall(value)) * 5 > len(value) > 12:
        return True
    return len(value) >= 24 and not _WORDS.fullmatch(value)


def has_random_run(value: str, least: int) -> bool:
    """Whether ``value`` holds ``least`` alphanumerics in a row that are no plain lower-case word."""
    return any(
        len(run) >= least and (looks_random(run) or len(run) >= least + 4)
        for run in re.findall(r"[A-Za-z0-9]+", value)
    )


def _is_reference(value: str) -> bool:
    if _REFERENCE.match(value) is not None or _CODE.match(value) is not None:
        return True
    # other.password, leaf.type_token
    owner, dot, attribute = value.rpartition(".")
    return bool(dot) and _OWNER.fullmatch(owner) is not None and name_kind(attribute) is not None


def _is_variable(value: str, form: Form) -> bool:
    """``password = value``, ``login(password=user_password)``: the name of something that holds it."""
    if not _IDENTIFIER.fullmatch(value):
        return False
    has_parts = "_" in value or _CASE_CHANGE.search(value) is not None
    return form is Form.SPACED or (has_parts and name_kind(value) is not None)


def _gives_itself_away(value: str, kind: NameKind) -> bool:
    """The bar inside running text: long enough, mixed, and neither a measure nor the name of a technique."""
    if len(value) < (_MIN_PROSE_PASSWORD if kind in _PASSWORDS else _MIN_PROSE_OTHER):
        return False
    if value.isdecimal():
        return kind is NameKind.PASSWORD
    if _MEASURE.fullmatch(value) or _TECHNIQUE.match(value) or _TIMESTAMP.match(value):
        return False
    return looks_random(value)


def _stands_out(value: str, kind: NameKind) -> bool:
    """The bar where only the neighbourhood speaks: ``password hunter2``, ``api key 1f0c…``."""
    if not (_DIGIT.search(value) and _LETTER.search(value)):
        return False
    if kind is NameKind.PASSWORD:
        return _gives_itself_away(value, kind)
    return kind is not NameKind.PASS and len(value) >= _MIN_BESIDE and _KEY_LIKE.fullmatch(value) is not None
