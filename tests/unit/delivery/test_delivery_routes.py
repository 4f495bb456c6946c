from __future__ import annotations

from leased_events import leased

from honchod.delivery.routes import OBSERVERS_MAX, members, routes
from honchod.gateway.values import Endpoint, Member
from honchod.identity import config
from honchod.identity.host import Host, Hosts

KEY = "hch-secret-0123456789"


def no_key_file(name: str) -> str:
    raise ValueError(f"no file {name}")


def hosts(**blocks: dict[str, object]) -> Hosts:
    document = {"baseUrl": "http://127.0.0.1:8000", "apiKey": KEY, "hosts": blocks}
    return config.parse(document, {}, read_key=no_key_file, credential=None)


def host(**keys: object) -> Host:
    return hosts(h={"peerName": "al", "aiPeer": "bot", "workspace": "w", **keys})["h"]


def test_the_ai_peer_listens_from_the_first_message_on() -> None:
    chosen = members(host(), [leased(1, peer="al")], ())
    assert [member.peer for member in chosen] == ["bot", "al"]


def test_another_peer_that_speaks_for_the_assistant_takes_the_ai_peers_place() -> None:
    chosen = members(host(), [leased(1, peer="al"), leased(2, peer="nova", role="assistant")], ())
    assert [member.peer for member in chosen] == ["al", "nova"]
    ai = host().peers.observation.ai
    assert chosen[1] == Member("nova", ai.observe_me, ai.observe_others)


def test_who_is_in_the_session_stays_in_it_in_the_order_of_joining() -> None:
    chosen = members(host(), [leased(1, peer="zoe"), leased(2, peer="abe")], ("pat", "bot"))
    assert [member.peer for member in chosen] == ["pat", "bot", "abe", "zoe"]


def test_the_order_is_the_same_whoever_speaks_first() -> None:
    batch = [leased(1, peer="zoe"), leased(2, peer="abe"), leased(3, peer="zoe")]
    assert members(host(), batch, ()) == members(host(), batch[::-1], ())


def test_no_session_gets_more_observers_than_honcho_takes() -> None:
    watching = {
        "user": {"observeMe": True, "observeOthers": True},
        "ai": {"observeMe": True, "observeOthers": True},
    }
    crowd = [leased(n, peer=f"p{n:02}") for n in range(OBSERVERS_MAX + 5)]
    chosen = members(host(observation=watching), crowd, ())
    assert len(chosen) == OBSERVERS_MAX + 6
    assert [member.observe_others for member in chosen] == [True] * OBSERVERS_MAX + [False] * 6
    assert all(member.observe_me for member in chosen)


def test_only_enabled_hosts_have_a_route() -> None:
    found = routes(hosts(on={}, off={"enabled": False}), b"salt")
    assert "on" in found
    assert "off" not in found


def test_hosts_with_the_same_url_and_key_share_a_destination_name_that_tells_neither() -> None:
    found = routes(
        hosts(a={}, b={}, c={"apiKey": "hch-other-0123456789"}, d={"baseUrl": "http://127.0.0.1:8001"}),
        b"salt",
    )
    names = {name: route.destination for name, route in found.items()}
    assert names["a"] == names["b"]
    assert len({names["a"], names["c"], names["d"]}) == 3
    assert KEY not in str(names)
    assert routes(hosts(a={}), b"another")["a"].destination != names["a"]


def test_a_route_names_the_endpoint_of_a_workspace() -> None:
    route = routes(hosts(a={}), b"salt")["a"]
    assert route.url == "http://127.0.0.1:8000"
    assert route.endpoint("w") == Endpoint("http://127.0.0.1:8000", "w", KEY)
    assert KEY not in repr(route.endpoint("w"))


def test_a_host_without_a_key_has_an_endpoint_without_one() -> None:
    document = {"baseUrl": "http://127.0.0.1:8000", "hosts": {"a": {}}}
    found = routes(config.parse(document, {}, read_key=no_key_file, credential=None), b"salt")
    assert found["a"].endpoint("w").key is None
