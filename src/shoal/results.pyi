# The public names of shoal.results: each loads its module when it is first used.

from shoal.audit.attack import Attack as Attack
from shoal.audit.seen import PersonView as PersonView
from shoal.audit.series import SeriesAudit as SeriesAudit
from shoal.audit.survey import Levels as Levels
from shoal.inspection.assumed import Assumption as Assumption
from shoal.inspection.assuming import Opened as Opened
from shoal.inspection.inspect import Inspection as Inspection
from shoal.principles.dissimilarity import Guarantee as Guarantee
from shoal.principles.foresight import RequirementPlan as RequirementPlan
from shoal.principles.requirement import Requirement as Requirement
from shoal.release.graph import GeneralizationGraph as GeneralizationGraph
from shoal.runs.compare import Comparison as Comparison
from shoal.runs.doing import Outcome as Outcome
from shoal.runs.dossier import Dossier as Dossier
from shoal.runs.estimating import Estimates as Estimates
from shoal.runs.estimating import Quantity as Quantity
from shoal.runs.knowing import Minimality as Minimality
from shoal.runs.learned import LearningUtility as LearningUtility
from shoal.runs.plan import Plan as Plan
from shoal.runs.refining import Refinement as Refinement
from shoal.runs.remarks import Remark as Remark
from shoal.runs.run import Run as Run
from shoal.runs.tune import Frontier as Frontier
from shoal.utility.workload import QueryError as QueryError
