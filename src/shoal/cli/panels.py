"""The help of a command: its options in panels, in the order in which people need them."""

from __future__ import annotations

from typing import Any

import typer.core

from shoal import Ask

OTHERS: dict[str, dict[str, str]] = {  # options of what is not asked of a run, with their values
    "Columns": {"group": "COLUMN"},
    "What must hold": {},
    "What to look at": {
        "norm": "NAME",
        "original": "TABLE",
        "row": "NUMBER",
        "control": "TABLE",
        "epsilon": "NUMBER",
        "m": "NUMBER",
        "relative": "",
        "delta": "NUMBERS",
        "distance": "DISTANCE",
        "knows_method": "",
        "vary": "PARAMETER",
        "mean": "COLUMN",
        "quantile": "SHARE",
        "share": "CONDITION",
        "correlation": "",
        "of": "COLUMN",
        "by": "COLUMN",
        "logit": "",
        "tables": "NUMBER",
        "chains": "NUMBER",
        "anyway": "",
        "queries": "NUMBER",
        "learning": "",
        "target": "COLUMN",
    },
    "Reading": {},
    "Writing": {"table": "FILE", "report": "FILE"},
    "Running": {
        "port": "NUMBER",
        "no_browser": "",
        "ask": "",
        "dry_run": "",
        "quiet": "",
        "json": "",
        "help": "",
    },
}
AFTER = {
    "odds": "relative",
    "group": "survey_weight",
    "report": "withhold_counts",
    "dry_run": "engine",
}
FOUND = {
    name: (panel, metavar)
    for panel, others in OTHERS.items()
    for name, metavar in (
        *((one.name, one.metavar) for one in Ask.flags().values() if one.panel == panel),
        *others.items(),
    )
}
ORDER = [name for name in FOUND if name not in AFTER]
for later, before in AFTER.items():
    ORDER.insert(ORDER.index(before) + 1, later)
PLACES = {name: FOUND[name] for name in ORDER}


class PlainGroup(typer.core.TyperGroup):
    """All commands, with options of their own."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return all options."""
        return [take_text(one) for one in super().get_params(ctx)]


class PanelledCommand(typer.core.TyperCommand):
    """A command whose options are gathered in panels."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        for one in self.params:
            place(one)
        self.params.sort(
            key=lambda one: ORDER.index(str(one.name)) if str(one.name) in PLACES else -1
        )

    def get_params(self, ctx: Any) -> list[Any]:
        """Return all options."""
        return [take_text(one) for one in super().get_params(ctx)]

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the usage line; what must be given stands there bare."""
        return [
            piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)
        ]

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option that shows the help, beside the others that are about running."""
        option = super().get_help_option(ctx)
        place(option)
        return option


def place(option: Any) -> None:
    """Put an option into its panel; arguments stay where they are, without a type of Python's."""
    if option is not None and option.param_type_name == "argument":
        option.display_type_rich = lambda **_: ""
    elif option is not None and option.name in PLACES:
        option.rich_help_panel, option.metavar = PLACES[option.name]


def take_text(option: Any) -> Any:
    """Take text, and nothing, as it is: Typer would load Pydantic to find that text is text."""
    if not hasattr(option, "type_descriptor") or "process_value" in vars(option):
        return option  # a Typer that does not, or it is done
    process, many = option.process_value, option.multiple or option.nargs == -1
    textual = option.type_descriptor.annotation in {str, list[str]}

    def taken(ctx: Any, value: Any) -> Any:
        texts = value if many else [value]
        if value is None and not option.required:
            value = () if many else None
        elif textual and texts and all(isinstance(text, str) for text in texts):
            value = [*texts] if many else value
        else:
            return process(ctx, value)
        return value if option.callback is None else option.callback(ctx, option, value)

    option.process_value = taken
    return option
