"""What leaves a redactor: texts, trees, lines, and what is special for one tool."""

from typing import Annotated

from pydantic import BaseModel, TypeAdapter

from typegate import MCPServer
from typegate.guards.plans import Secret, marks_of
from typegate.guards.redaction import Plan, Redactor

# region texts
redactor = Redactor()

url = "postgres://app:hunter2@db/orders"
assert redactor.clean_text(url) == "postgres://app:[redacted:url_password]@db/orders"

setting = "DB_PASSWORD=hunter2 PORT=5432"
assert redactor.clean_text(setting) == "DB_PASSWORD=[redacted:password] PORT=5432"
# endregion

# region trees
order = {"id": "4f1c", "token_count": 12, "env": [{"name": "API_KEY", "value": "k-17"}]}
assert redactor.clean_tree(order)["env"] == [{"name": "API_KEY", "value": "[redacted:secret]"}]
assert redactor.clean_tree(order)["token_count"] == 12

clean = {"id": "4f1c", "total": 3.5}
assert redactor.clean_tree(clean) is clean  # nothing was found, nothing was copied
# endregion

# region options
staff = Redactor(
    profile="pii",
    extra={"employee_id": r"\bEMP-\d{5}\b"},
    keys=["badge"],
    placeholder="<{kind}>",
)
assert staff.clean_text("EMP-12345, ann@example.org") == "<employee_id>, <email>"
assert staff.clean_tree({"badge": 77}) == {"badge": "<secret>"}
# endregion


# region fields
server = MCPServer("accounts")


class Account(BaseModel):
    owner: str
    code: Annotated[str, Secret()]


@server.tool
def find_account(owner: str) -> Account:
    """Find the account of an owner."""
    return Account(owner=owner, code="x1")


plan = Plan(marks=marks_of(TypeAdapter(Account).json_schema(mode="serialization")))
message = b'{"jsonrpc":"2.0","id":1,"result":{"structuredContent":{"owner":"ann","code":"x1"}}}'
assert b'{"owner":"ann","code":"[redacted:secret]"}' in redactor.clean_line(message, plan)
# endregion
