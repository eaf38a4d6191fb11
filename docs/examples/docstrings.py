"""Three styles of docstrings, one outcome."""

from typegate import MCPServer

server = MCPServer("docstrings")


# region google
@server.tool
def google(city: str, days: int = 3) -> str:
    """Forecast the weather.

    Args:
        city: Where to look; the name in English,
            without the country.
        days: How many days.

    Returns:
        The forecast.
    """
    return f"{city}: {days} days of rain"


# endregion


# region sphinx
@server.tool
def sphinx(city: str, days: int = 3) -> str:
    """Forecast the weather.

    :param city: Where to look; the name in English,
        without the country.
    :param days: How many days.
    :returns: The forecast.
    """
    return google(city, days)


# endregion


# region numpy
@server.tool
def numpy(city: str, days: int = 3) -> str:
    """Forecast the weather.

    Parameters
    ----------
    city : str
        Where to look; the name in English,
        without the country.
    days : int
        How many days.

    Returns
    -------
    str
        The forecast.
    """
    return google(city, days)


# endregion

if __name__ == "__main__":
    server.run()
