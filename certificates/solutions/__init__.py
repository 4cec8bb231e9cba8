"""Exact brackets of the optimum of linear and semidefinite programs, from the floats of a solver.

programs   ConeProgram: min c.z + d with E z = f and G z + h in a cone, over the rationals; its dual; the exact test
reading    the cone program of a CVXPY problem, and the place of its variables in it
points     floats proposed by a solver, moved into the feasible set exactly
bracket    certify_solution, and verify
document   what is certified as a file, which `lemmata.certificates.solution_kernel` checks
"""

from lemmata.certificates.solutions.bracket import CertifiedSolution, certify_solution, verify

__all__ = ["CertifiedSolution", "certify_solution", "verify"]
