"""Shoal publishes tables about people so that nobody's sensitive value can be nearly known.

The names below are all there is to learn; they load what they need when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from shoal.version import __version__

_HOMES = {
    "anonymize": "runs.anonymize",
    "plan": "principles.planning",
    "compare": "runs.compare",
    "tune": "runs.tune",
    "learning_utility": "runs.learning",
    "learning_of": "runs.learning",
    "LearningUtility": "runs.learned",
    "audit_files": "audit.files",
    "survey": "audit.survey",
    "Survey": "audit.survey",
    "attack": "audit.attack",
    "Attack": "audit.attack",
    "Workload": "utility.workload",
    "Questions": "utility.workload",
    "QueryError": "utility.workload",
    "query_error": "utility.workload",
    "count": "utility.expression",
    "losses": "utility.losses",
    "describe_losses": "utility.losses",
    "inspect": "inspection.inspect",
    "Inspection": "inspection.inspect",
    "Schema": "table.schema",
    "Listed": "table.groupings",
    "Prefix": "table.groupings",
    "Calendar": "table.groupings",
    "Bins": "table.groupings",
    "Quantiles": "table.groupings",
    "Grouped": "table.groupings",
    "Requirement": "principles.requirement",
    "EpsilonM": "principles.proximity",
    "Neighbourhood": "principles.proximity",
    "DeltaL": "principles.proximity",
    "Window": "principles.proximity",
    "KAnonymity": "principles.k_anonymity",
    "Dissimilarity": "principles.dissimilarity",
    "FrequencyL": "principles.frequency",
    "AlphaK": "principles.frequency",
    "DistinctL": "principles.l_diversity",
    "EntropyL": "principles.l_diversity",
    "RecursiveCL": "principles.l_diversity",
    "TCloseness": "principles.t_closeness",
    "KE": "principles.spread",
    "Variance": "principles.spread",
    "DeltaDisclosure": "principles.disclosure",
    "BetaLikeness": "principles.disclosure",
    "MUniqueness": "principles.frequency",
    "KMap": "principles.k_anonymity",
    "DeltaPresence": "principles.k_anonymity",
    "Absolute": "distances.numeric",
    "Lp": "distances.numeric",
    "SmallestDifference": "distances.numeric",
    "TotalVariation": "distances.numeric",
    "Equality": "distances.labels",
    "Edit": "distances.labels",
    "Lookup": "distances.labels",
    "Function": "distances.labels",
    "Hierarchical": "distances.hierarchical",
    "GreatCircle": "distances.geographic",
    "Exchange": "methods.exchange",
    "XColor": "methods.exchange",
    "Split": "methods.split",
    "Mondrian": "methods.mondrian",
    "Freeform": "methods.freeform.method",
    "Ring": "methods.freeform.method",
    "GeneralizationGraph": "release.graph",
    "Perturb": "utility.perturb",
    "Anatomy": "utility.anatomy",
    "Release": "runs.release",
    "Audit": "audit.verify",
    "Plan": "principles.planning",
    "Comparison": "runs.compare",
    "Frontier": "runs.tune",
    "Guarantee": "principles.guarantee",
    "Outlook": "principles.outlook",
    "ShoalError": "errors",
    "UsageError": "errors",
    "InputError": "errors",
    "NotAchievable": "errors",
    "AuditFailed": "errors",
    "OutputError": "errors",
}

__all__ = [
    "KE",
    "Absolute",
    "AlphaK",
    "Anatomy",
    "Attack",
    "Audit",
    "AuditFailed",
    "BetaLikeness",
    "Bins",
    "Calendar",
    "Comparison",
    "DeltaDisclosure",
    "DeltaL",
    "DeltaPresence",
    "Dissimilarity",
    "DistinctL",
    "Edit",
    "EntropyL",
    "EpsilonM",
    "Equality",
    "Exchange",
    "Freeform",
    "FrequencyL",
    "Frontier",
    "Function",
    "GeneralizationGraph",
    "GreatCircle",
    "Grouped",
    "Guarantee",
    "Hierarchical",
    "InputError",
    "Inspection",
    "KAnonymity",
    "KMap",
    "LearningUtility",
    "Listed",
    "Lookup",
    "Lp",
    "MUniqueness",
    "Mondrian",
    "Neighbourhood",
    "NotAchievable",
    "Outlook",
    "OutputError",
    "Perturb",
    "Plan",
    "Prefix",
    "Quantiles",
    "QueryError",
    "Questions",
    "RecursiveCL",
    "Release",
    "Requirement",
    "Ring",
    "Schema",
    "ShoalError",
    "SmallestDifference",
    "Split",
    "Survey",
    "TCloseness",
    "TotalVariation",
    "UsageError",
    "Variance",
    "Window",
    "Workload",
    "XColor",
    "__version__",
    "anonymize",
    "attack",
    "audit_files",
    "compare",
    "count",
    "describe_losses",
    "inspect",
    "learning_of",
    "learning_utility",
    "losses",
    "plan",
    "query_error",
    "survey",
    "tune",
]

if TYPE_CHECKING:
    from shoal.audit.attack import Attack, attack
    from shoal.audit.files import audit_files
    from shoal.audit.survey import Survey, survey
    from shoal.audit.verify import Audit
    from shoal.distances.geographic import GreatCircle
    from shoal.distances.hierarchical import Hierarchical
    from shoal.distances.labels import Edit, Equality, Function, Lookup
    from shoal.distances.numeric import Absolute, Lp, SmallestDifference, TotalVariation
    from shoal.errors import (
        AuditFailed,
        InputError,
        NotAchievable,
        OutputError,
        ShoalError,
        UsageError,
    )
    from shoal.inspection.inspect import Inspection, inspect
    from shoal.methods.exchange import Exchange, XColor
    from shoal.methods.freeform.method import Freeform, Ring
    from shoal.methods.mondrian import Mondrian
    from shoal.methods.split import Split
    from shoal.principles.disclosure import BetaLikeness, DeltaDisclosure
    from shoal.principles.dissimilarity import Dissimilarity
    from shoal.principles.frequency import AlphaK, FrequencyL, MUniqueness
    from shoal.principles.guarantee import Guarantee
    from shoal.principles.k_anonymity import DeltaPresence, KAnonymity, KMap
    from shoal.principles.l_diversity import DistinctL, EntropyL, RecursiveCL
    from shoal.principles.outlook import Outlook
    from shoal.principles.planning import Plan, plan
    from shoal.principles.proximity import DeltaL, EpsilonM, Neighbourhood, Window
    from shoal.principles.requirement import Requirement
    from shoal.principles.spread import KE, Variance
    from shoal.principles.t_closeness import TCloseness
    from shoal.release.graph import GeneralizationGraph
    from shoal.runs.anonymize import anonymize
    from shoal.runs.compare import Comparison, compare
    from shoal.runs.learned import LearningUtility
    from shoal.runs.learning import learning_of, learning_utility
    from shoal.runs.release import Release
    from shoal.runs.tune import Frontier, tune
    from shoal.table.groupings import Bins, Calendar, Grouped, Listed, Prefix, Quantiles
    from shoal.table.schema import Schema
    from shoal.utility.anatomy import Anatomy
    from shoal.utility.expression import count
    from shoal.utility.losses import describe_losses, losses
    from shoal.utility.perturb import Perturb
    from shoal.utility.workload import QueryError, Questions, Workload, query_error


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        msg = f"module 'shoal' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"shoal.{_HOMES[name]}"), name)
