package apps

import (
	"testing"
)

// TestBratu is C: a nonlinear equation on a grid that is distributed over the ranks.
func TestBratu(t *testing.T) {
	created, guess := bratu.lineOf(t, "PetscCall(DMSetFromOptions(da))", ""), bratu.lineOf(t, "PetscCall(FormInitialGuess(da, &user, x))", "")
	each := bratu.lineOf(t, "if (i == 0 || j == 0 || i == info->mx - 1", "") // every rank executes it
	text := debug(t, "ex5", session{
		// Over calls of MPI that all ranks must make.
		"tbreak " + created,
		"continue",
		"next", "next", "next",
		"advance " + guess,
		"rbreak ^FormInitial",
		"continue",
		"print user->param",
		"delete",
		"break FormFunctionLocal",
		"continue",
		"sdm: backtrace", "sdm: stacks", "sdm: stat info->xs", "sdm: diff info->mx", "sdm: diff info->ys",
		"print info->mx", "print info->xm",
		"next", "next", "next",
		"print hx",
		"sdm: info locals",
		"up", "down",
		"delete",
		// Once only: ranks with fewer rows would wait for the others in a collective
		// operation.
		"break " + each + " if i == info->xs + 2",
		"continue",
		"print i", "print j",
		"next",
		"delete",
		"tbreak FormJacobianLocal",
		"continue",
		"finish",
		"continue",
	}, append([]string{"./ex5"}, bratu.args...)...)
	has(t, text,
		`^\[0-7\] Temporary breakpoint 1 at ex5\.c:\d+$`,
		`^\[0-7\] Breakpoint \d+, FormFunctionLocal \(`,
		`^#0  FormFunctionLocal \(info=`,
		`^\[0-7\] \(8\) main ex5\.c:\d+$`,
		`^\[0-7\] info->mx = \d+, as the majority$`,
	)
}

// TestUntil runs over calls of MPI to lines further down.
func TestUntil(t *testing.T) {
	created, set, solve := bratu.lineOf(t, "PetscCall(DMSetFromOptions(da))", ""), bratu.lineOf(t, "PetscCall(SNESSetFromOptions(snes))", ""), bratu.lineOf(t, "PetscCall(SNESSolve(snes, NULL, x))", "")
	debug(t, "until", session{
		"tbreak " + created,
		"continue",
		"until",
		"until " + set,
		"until " + solve,
		"continue",
	}, append([]string{"./ex5"}, bratu.args...)...)
}

// TestIce is C that was compiled as C++: elements in three dimensions, references, inlined code.
func TestIce(t *testing.T) {
	text := debug(t, "ex48", session{
		"break THIFunctionLocal",
		"continue",
		"print info->mx", "print info->my", "print info->zm", "print thi->alpha",
		"sdm: stat info->zs", "sdm: stacks",
		"next", "next",
		"delete",
		"tbreak HexComputeGeometry",
		"continue",
		"print q", "print hx",
		"sdm: backtrace",
		"next", "next", "next",
		"up",
		"print i", "print j", "print k", "print n[0]",
		"sdm: info locals",
		"finish",
		"continue",
	}, append([]string{"./ex48"}, ice.args...)...)
	has(t, text, `^\[0-7\] Breakpoint 1, THIFunctionLocal \(`, `^\[0-7\] Temporary breakpoint 2, HexComputeGeometry \(`)
}

// TestFortran has modules, derived types and arrays whose bounds are arguments.
func TestFortran(t *testing.T) {
	// Every rank executes this line.
	each := fortran.lineOf(t, "if (i .eq. 1 .or. j .eq. 1", "subroutine FormFunctionLocal(")
	text := debug(t, "ex5f90", session{
		"break formfunctionlocal",
		"continue",
		"sdm: backtrace", "sdm: stacks",
		"next", "next", "next",
		"print user%mx", "print hx", "print user%lambda",
		"sdm: stat user%xs", "sdm: info locals", "sdm: info args",
		"print f(1,1)", "print x(2,2)",
		"delete",
		"break " + each + " if i == user%xs + 1",
		"continue",
		"print i", "print hx",
		"up",
		"delete",
		"finish",
		"continue",
	}, append([]string{"./ex5f90"}, fortran.args...)...)
	has(t, text, `^\[0-7\] Breakpoint 1, formfunctionlocal \(`, `^#0  formfunctionlocal \(`)
}
