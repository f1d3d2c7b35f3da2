// Faults for panics.

package protocol

import (
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
)

// Report is the hint of such faults.
const Report = "please report it, with the stack that the log has"

// Defect returns the fault for the ranks or requests that a panic affects: its
// message and origin. It must be called by the deferred function that has recovered
// from the panic.
func Defect(op string, why any) *Fault {
	return &Fault{Kind: FaultInternal, Op: op, Message: fmt.Sprintf("a defect of sdm%s: %v", panicked(), why), Hint: Report}
}

// Guard calls a function. If that panics, Guard returns the fault, and the stack
// for the log.
func Guard(op string, do func()) (bad *Fault, stack []byte) {
	defer func() {
		if why := recover(); why != nil {
			bad, stack = Defect(op, why), debug.Stack()
		}
	}()
	do()
	return nil, nil
}

// panicked returns " in FILE:LINE", or "" if no panic is in progress.
func panicked() string {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
	for seen, more := false, true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			seen = true
		case seen && !strings.HasPrefix(f.Function, "runtime."):
			return fmt.Sprintf(" in %s/%s:%d", filepath.Base(filepath.Dir(f.File)), filepath.Base(f.File), f.Line)
		}
	}
	return ""
}
