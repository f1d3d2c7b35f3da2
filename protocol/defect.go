// What is said of a broken promise inside sdm.

package protocol

import (
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
)

// Report is what a person is asked for when that has happened.
const Report = "please report it, with the stack that the log has"

// Defect is the fault of those whom a panic concerns: what it said and where it came from. It is called by the deferred
// function that has recovered from it.
func Defect(op string, why any) *Fault {
	return &Fault{Kind: FaultInternal, Op: op, Message: fmt.Sprintf("a defect of sdm%s: %v", panicked(), why), Hint: Report}
}

// Guard calls a function. Should that panic, it gives the fault of those whom this concerns, and the stack for the log.
func Guard(op string, do func()) (bad *Fault, stack []byte) {
	defer func() {
		if why := recover(); why != nil {
			bad, stack = Defect(op, why), debug.Stack()
		}
	}()
	do()
	return nil, nil
}

// panicked gives " in FILE:LINE", or "" where nothing panics.
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
