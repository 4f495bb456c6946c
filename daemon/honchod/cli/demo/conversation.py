"""What is said in the demo."""

from __future__ import annotations

from typing import NamedTuple

USER_PEER = "mira"
AI_PEER = "juno"


class Line(NamedTuple):
    """One message; ``role`` as in the API."""

    id: str
    role: str
    text: str


CONVERSATION = tuple(
    Line(f"demo-{number:02}", role, text)
    for number, (role, text) in enumerate(
        [
            ("user", "Hi, I'm Mira. I moved from Turin to Lisbon two weeks ago."),
            ("assistant", "Welcome to Lisbon, Mira! Have you settled in?"),
            ("user", "Mostly. I found a flat in Graça, but I still get lost on the way to the tram."),
            ("assistant", "The 28 stops right at the square. Shall I remember Graça as your home stop?"),
            (
                "user",
                "Yes please. And I bake on Sundays, so remind me to feed the starter on Saturday.",
            ),
            ("assistant", "Noted: Graça is home, and the starter gets fed every Saturday."),
            ("user", "I can't eat hazelnuts, by the way. Keep that in mind for recipes."),
            ("assistant", "No hazelnuts. I'll suggest walnuts or seeds instead."),
            ("user", "I start at the map archive on Monday. My supervisor is called Teodor."),
            ("assistant", "Good luck on Monday! What will you do there?"),
            ("user", "I catalogue nautical charts from before 1800. Most of them are in Portuguese."),
            ("assistant", "Then let's practise ten words a day, starting with the parts of a ship."),
        ],
        start=1,
    )
)
