"""MCP servers in Python where the type hints are the gate."""

from typegate.app import MCPServer, tool
from typegate.content import Audio, EmbeddedResource, File, Image, PromptMessage, ToolResult
from typegate.contract.gate import INHERIT, Gate
from typegate.errors import (
    ConfigurationError,
    InvalidArguments,
    InvalidResult,
    RegistrationError,
    Rejected,
    RequestFailed,
    ToolError,
    TypegateError,
    reject,
)
from typegate.guards.access import AccessPolicy
from typegate.guards.approval import ApprovalRequest, Approver
from typegate.guards.audit import AuditLog
from typegate.guards.calls import Decision
from typegate.guards.limits import Limits
from typegate.guards.plans import Secret
from typegate.guards.ratelimit import RateLimit
from typegate.guards.redaction import Redactor
from typegate.server.context import Context
from typegate.types import (
    Annotations,
    BlobResourceContents,
    Icon,
    Issue,
    Principal,
    Problem,
    PromptArgument,
    ResourceLink,
    Text,
    TextResourceContents,
    ToolAnnotations,
)

__version__ = "0.1.0"

__all__ = [
    "INHERIT",
    "AccessPolicy",
    "Annotations",
    "ApprovalRequest",
    "Approver",
    "Audio",
    "AuditLog",
    "BlobResourceContents",
    "ConfigurationError",
    "Context",
    "Decision",
    "EmbeddedResource",
    "File",
    "Gate",
    "Icon",
    "Image",
    "InvalidArguments",
    "InvalidResult",
    "Issue",
    "Limits",
    "MCPServer",
    "Principal",
    "Problem",
    "PromptArgument",
    "PromptMessage",
    "RateLimit",
    "Redactor",
    "RegistrationError",
    "Rejected",
    "RequestFailed",
    "ResourceLink",
    "Secret",
    "Text",
    "TextResourceContents",
    "ToolAnnotations",
    "ToolError",
    "ToolResult",
    "TypegateError",
    "__version__",
    "reject",
    "tool",
]
