"""What `typegate.server.bus` promises: everyone who asked is told, and nobody can stop that."""

import threading

import pytest

from typegate.server.bus import Bus, Change

TOOLS, BOOK = Change("tools"), Change("resource", "book://1")


def test_everyone_who_asked_is_told() -> None:
    """Every change, in order, from the subscription on."""
    bus, first, second = Bus(), [], []
    bus.publish(TOOLS)
    bus.subscribe(first.append)
    bus.publish(BOOK)
    bus.subscribe(second.append)
    bus.publish(TOOLS)
    assert (first, second) == ([BOOK, TOOLS], [TOOLS])


def test_a_subscription_ends_when_it_is_ended() -> None:
    """Once and for all; ending it twice ends no other one."""
    bus, first, second = Bus(), [], []
    end = bus.subscribe(first.append)
    bus.subscribe(second.append)
    end()
    end()
    bus.publish(TOOLS)
    assert (first, second) == ([], [TOOLS])


def test_the_same_subscriber_may_ask_twice() -> None:
    """It is told twice, and each subscription ends for itself."""
    bus, told = Bus(), []
    end = bus.subscribe(told.append)
    bus.subscribe(told.append)
    bus.publish(TOOLS)
    end()
    bus.publish(BOOK)
    assert told == [TOOLS, TOOLS, BOOK]


def test_a_subscriber_that_fails_stops_nobody(caplog: pytest.LogCaptureFixture) -> None:
    """The others are told, the publisher does not notice, and the log has it."""
    bus, told = Bus(), []

    def fail(change: Change) -> None:
        raise RuntimeError("no")

    bus.subscribe(fail)
    bus.subscribe(told.append)
    bus.publish(TOOLS)
    assert told == [TOOLS]
    assert "RuntimeError: no" in caplog.text


def test_a_subscriber_may_leave_and_come_while_it_is_told() -> None:
    """Whoever was there when the change was published hears of it, and whoever comes then does not."""
    bus, told = Bus(), []

    def replace(change: Change) -> None:
        end()
        bus.subscribe(told.append)

    end = bus.subscribe(replace)
    bus.publish(TOOLS)
    bus.publish(BOOK)
    assert told == [BOOK]


def test_a_subscriber_is_called_on_the_thread_that_publishes() -> None:
    """It sees to its own thread itself."""
    bus, threads = Bus(), []
    bus.subscribe(lambda change: threads.append(threading.get_ident()))
    thread = threading.Thread(target=bus.publish, args=(TOOLS,))
    thread.start()
    thread.join()
    assert threads == [thread.ident]


def test_many_threads_may_publish_and_subscribe_at_once() -> None:
    """A subscriber that stays hears every change."""
    bus, told = Bus(), []
    bus.subscribe(told.append)

    def work() -> None:
        for _ in range(200):
            bus.subscribe(lambda change: None)()
            bus.publish(TOOLS)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(told) == 1600
