"""Every method, by name. A method's file is loaded when the method is first asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .base import MethodInfo as MethodInfo
from .base import Solver as Solver
from .base import State as State
from .registry import METHODS as METHODS
from .registry import SOLVERS as SOLVERS
from .registry import named as named
from .registry import register as register
from .registry import state_class as state_class
from .table import MethodTable as MethodTable
from .table import methods as methods

if TYPE_CHECKING:  # for type checkers and editors, which do not follow ``__getattr__``
    from .a_irg import AIRG as AIRG
    from .adabim import AdaBiM as AdaBiM
    from .agm_bio import AGMBiO as AGMBiO
    from .apb_apg import APBAPG as APBAPG
    from .apdb import APDB as APDB
    from .bi_cs import BiCS as BiCS
    from .bi_fista import BiFISTA as BiFISTA
    from .bi_sg import BiSG as BiSG
    from .big_sam import BiGSAM as BiGSAM
    from .bisec_bio import BisecBiO as BisecBiO
    from .cabot import Cabot as Cabot
    from .cg import CG as CG
    from .cg_bio import CGBiO as CGBiO
    from .cg_bio_anytime import AnytimeCGBiO as AnytimeCGBiO
    from .dbgd import DBGD as DBGD
    from .exact import Exact as Exact
    from .fbi_pg import FBiPG as FBiPG
    from .fc_bio import FCBiO as FCBiO
    from .hsdm import HSDM as HSDM
    from .ibig_sam import IBiGSAM as IBiGSAM
    from .ir_cg import IRCG as IRCG
    from .ir_fscg import IRFSCG as IRFSCG
    from .ir_scg import IRSCG as IRSCG
    from .mng import MNG as MNG
    from .pb_apg import PBAPG as PBAPG
    from .r_apm import RAPM as RAPM
    from .sam import SAM as SAM
    from .sbcgf import SBCGF as SBCGF
    from .sbcgi import SBCGI as SBCGI
    from .solodov import Solodov as Solodov
    from .stabim import StaBiM as StaBiM
    from .tikhonov import Tikhonov as Tikhonov
    from .tseng import Tseng as Tseng


def __getattr__(name: str) -> Any:
    for method, cls in METHODS.items():
        if cls == name:
            return SOLVERS[method]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
