"""What a server offers: one registry per kind, and the catalogue of all of them.

The law of the file: order is the order of registration, a key is unique, and what a listing shows is
encoded once per revision until something changes.
"""

import itertools
import logging
from collections.abc import Iterator, Mapping
from typing import Final, Generic, Protocol, TypeVar

import msgspec

from typegate.errors import RegistrationError
from typegate.guards.access import Access, View, admits
from typegate.server.components import (
    CompletionPlan,
    PromptPlan,
    ResourcePlan,
    TemplatePlan,
    ToolPlan,
)
from typegate.server.options import OnDuplicate, Options
from typegate.types import Json, Listed, Principal
from typegate.versions import Version
from typegate.wire.jsonrpc import dumps
from typegate.wire.shapes import describe

__all__ = ["Catalogue", "Completable", "Completions", "Page", "Plan", "Registry", "capabilities"]

log: Final = logging.getLogger("typegate")


class Plan(Protocol):
    """What can be registered."""

    @property
    def key(self) -> str:
        """What it is looked up by."""
        ...

    @property
    def listed(self) -> Listed:
        """What a listing shows of it."""
        ...

    @property
    def options(self) -> Options:
        """What its decorator was told."""
        ...


P = TypeVar("P", bound=Plan)


class Page(msgspec.Struct, frozen=True):
    """One page of a listing, encoded.

    Attributes:
        items: a JSON array.
        last: the ordinal to go on after, if there is more.
        private: whether other callers may see other entries.
    """

    items: bytes
    last: int | None
    private: bool


class Registry(Generic[P]):
    """The components of one kind.

    Args:
        kind: what they are called, for texts.
        on_duplicate: what happens when a key is registered again.
        view: what the server's policy shows of them, if it has one.
    """

    def __init__(self, kind: str, on_duplicate: OnDuplicate, view: View | None = None) -> None:
        self._kind = kind
        self._on_duplicate: OnDuplicate = on_duplicate
        self._view = view
        self._plans: dict[str, tuple[int, P]] = {}
        self._ordinals = itertools.count(1)
        self._encoded: dict[str, bytes] = {}

    def __len__(self) -> int:
        return len(self._plans)

    def __iter__(self) -> Iterator[P]:
        return (plan for _, plan in tuple(self._plans.values()))

    def add(self, plan: P) -> bool:
        """Register *plan*; whether anything changed.

        Raises:
            RegistrationError: its key is taken and `on_duplicate` is "error".
        """
        ordinal = next(self._ordinals)
        if plan.key in self._plans:
            if not _replaces(self._on_duplicate, f"{self._kind} '{plan.key}'"):
                return False
            ordinal = self._plans[plan.key][0]
        self._plans[plan.key] = (ordinal, plan)
        self._encoded.clear()
        return True

    def remove(self, key: str) -> P | None:
        """Take a component away; `None` where there is none."""
        found = self._plans.pop(key, None)
        self._encoded.clear()
        return found[1] if found else None

    def get(self, key: str, principal: Principal | None) -> P | None:
        """The component of this key, if the caller may know of it."""
        found = self._plans.get(key)
        return found[1] if found and self.shows(found[1], principal) else None

    def visible(self, principal: Principal | None) -> Iterator[P]:
        """The components that the caller may know of, in order."""
        return (plan for plan in self if self.shows(plan, principal))

    def shows(self, plan: P, principal: Principal | None) -> bool:
        """Whether the caller may know of a component: the one question that every way in asks."""
        scopes = plan.options.scopes
        return (not scopes or admits(scopes, principal)) and (
            self._view is None or self._view.shows(plan.key, principal)
        )

    def shows_member(self, plan: P, uri: str, principal: Principal | None) -> bool:
        """The same for a resource that a template makes."""
        return admits(plan.options.scopes, principal) and (
            self._view is None or self._view.shows_member(plan.key, uri, principal)
        )

    def page(
        self, version: Version, principal: Principal | None, after: int = 0, size: int | None = None
    ) -> Page:
        """The listing for a caller: all of it, or *size* entries after an ordinal."""
        view = self._view
        by_caller = any(plan.options.scopes for _, plan in self._plans.values()) or (view and view.varies)
        restricted = bool(by_caller or (view and view.filters))
        if after == 0 and size is None and not by_caller:
            encoded = self._encoded.get(version.name)
            if encoded is None:
                encoded = self._encoded[version.name] = _encode(self.visible(principal), version)
            return Page(encoded, None, private=restricted)
        rest = [
            (ordinal, plan)
            for ordinal, plan in self._plans.values()
            if ordinal > after and self.shows(plan, principal)
        ]
        shown = rest if size is None else rest[:size]
        more = shown[-1][0] if len(shown) < len(rest) else None
        return Page(_encode((plan for _, plan in shown), version), more, private=restricted)


def _encode(plans: Iterator[Plan], version: Version) -> bytes:
    return dumps([describe(plan.listed, version) for plan in plans])


def _replaces(on_duplicate: OnDuplicate, what: str) -> bool:
    """Whether the second one of a name takes the place of the first.

    Raises:
        RegistrationError: there must be no second one.
    """
    if on_duplicate == "error":
        raise RegistrationError(f"{what} is registered already")
    if on_duplicate == "warn":
        log.warning("%s is registered already; the first one is kept", what)
    return on_duplicate == "replace"


Completable = tuple[str, str, str]
"""`prompt` or `resource`, the name of the prompt or the URI of the template, the argument."""


class Completions:
    """What suggests values, by what it completes; it goes with the component that it belongs to.

    Args:
        on_duplicate: what happens when the same argument is completed again.
    """

    def __init__(self, on_duplicate: OnDuplicate) -> None:
        self._on_duplicate: OnDuplicate = on_duplicate
        self._plans: dict[Completable, CompletionPlan] = {}

    def __len__(self) -> int:
        return len(self._plans)

    def __iter__(self) -> Iterator[CompletionPlan]:
        return iter(tuple(self._plans.values()))

    def add(self, key: Completable, plan: CompletionPlan) -> None:
        """Register what completes *key*.

        Raises:
            RegistrationError: something does already, and `on_duplicate` is "error".
        """
        kind, name, argument = key
        what = f"the completion of '{argument}' of {kind} '{name}'"
        if key not in self._plans or _replaces(self._on_duplicate, what):
            self._plans[key] = plan

    def get(self, key: Completable) -> CompletionPlan | None:
        """What completes *key*."""
        return self._plans.get(key)

    def of(self, kind: str, name: str) -> dict[str, CompletionPlan]:
        """Those of one component, by argument."""
        return {key[2]: plan for key, plan in self._plans.items() if key[:2] == (kind, name)}

    def settle(self, kind: str, name: str, plans: Mapping[str, CompletionPlan]) -> None:
        """A component has come, perhaps in the place of another: *plans* are all of its completions."""
        for argument in self.of(kind, name):
            del self._plans[kind, name, argument]
        self._plans.update({(kind, name, argument): plan for argument, plan in plans.items()})


class Catalogue:
    """All that a server offers, and to whom.

    Args:
        on_duplicate: what happens when a key is registered again.
        access: the server's policy, if it has one.
    """

    def __init__(self, on_duplicate: OnDuplicate, access: Access | None = None) -> None:
        tools = resources = prompts = None
        if access is not None:
            tools, resources, prompts = access.tools, access.resources, access.prompts
        self.tools: Registry[ToolPlan] = Registry("tool", on_duplicate, tools)
        self.resources: Registry[ResourcePlan] = Registry("resource", on_duplicate, resources)
        self.templates: Registry[TemplatePlan] = Registry("resource template", on_duplicate, resources)
        self.prompts: Registry[PromptPlan] = Registry("prompt", on_duplicate, prompts)
        self.completions = Completions(on_duplicate)

    def find_resource(
        self, uri: str, principal: Principal | None
    ) -> tuple[ResourcePlan | TemplatePlan | None, Mapping[str, object]]:
        """The resource of this URI, or the first template that matches it, with its variables."""
        found = self.resources.get(uri, principal)
        if found is not None:
            return found, {}
        for plan in self.templates:
            variables = plan.template.match(uri)
            if variables is not None and self.templates.shows_member(plan, uri, principal):
                return plan, variables
        return None, {}

    def find_completable(self, uri: str, principal: Principal | None) -> ResourcePlan | TemplatePlan | None:
        """What a completion means by a URI: the template as it is written, or what the URI leads to."""
        return self.templates.get(uri, principal) or self.find_resource(uri, principal)[0]


def capabilities(catalogue: Catalogue) -> dict[str, Json]:
    """What is advertised: only what is registered (requirement A15)."""
    found: dict[str, Json] = {}
    if len(catalogue.tools):
        found["tools"] = {"listChanged": True}
    if len(catalogue.resources) or len(catalogue.templates):
        found["resources"] = {"subscribe": True, "listChanged": True}
    if len(catalogue.prompts):
        found["prompts"] = {"listChanged": True}
    if catalogue.completions:
        found["completions"] = {}
    plans = (*catalogue.tools, *catalogue.resources, *catalogue.templates, *catalogue.prompts)
    if any(plan.callback.injected for plan in (*plans, *catalogue.completions)):
        found["logging"] = {}
    return found
