"""A tool that says no, in four ways, and one that breaks."""

from datetime import date

from typegate import Issue, MCPServer, Rejected, ToolError, reject

server = MCPServer("refusing")


# region reject
@server.tool
def book_room(arrival: date, departure: date) -> str:
    """Book a room."""
    if departure <= arrival:
        reject(
            "INVALID_RANGE",
            f"The departure {departure} is not after the arrival {arrival}.",
            hint="Send a departure that is at least one day later.",
        )
    return "booked"


# endregion


# region rejected
@server.tool
def move_room(room: int, to: int) -> str:
    """Move the guests of one room to another."""
    taken = Issue(path=("to",), code="taken", message=f"room {to} is taken", expected="a free room")
    raise Rejected("ROOM_TAKEN", f"Room {to} is taken.", hint="Call free_rooms first.", issues=[taken])


# endregion


# region dict
@server.tool
def cancel_room(room: int) -> dict:
    """Cancel a booking."""
    error = {"code": "TOO_LATE", "message": "The guests are here.", "hint": "Call check_out."}
    return {"ok": False, "error": error}


# endregion


# region error
@server.tool
def find_guest(name: str) -> str:
    """Find the room of a guest."""
    raise ToolError(f"Nobody by the name of {name} stays here. Call list_guests for the names.")


# endregion


# region broken
@server.tool
def charge(room: int) -> str:
    """Charge a room."""
    raise ConnectionError("cannot connect to postgresql://hotel:not-a-password@db.internal/rooms")


# endregion

if __name__ == "__main__":
    server.run()
