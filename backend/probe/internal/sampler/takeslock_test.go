package sampler

import (
	"strings"
	"testing"

	"sdm/protocol/stack"
)

// TestTakesLock recognises threads that take the lock of Python, awake, by their functions, outermost first.
func TestTakesLock(t *testing.T) {
	for text, want := range map[string]bool{
		"main step _PyEval_EvalFrameDefault take_gil __pthread_cond_timedwait64": true,
		"main step time_sleep PyEval_RestoreThread ?? ?? clock_gettime":          true,
		"main step _PyEval_EvalFrameDefault":                                     false,
		"PyEval_RestoreThread a b c d e f g":                                     false, // it calls that itself
		"":                                                                       false,
	} {
		var frames []stack.Frame
		for _, f := range strings.Fields(text) {
			frames = append(frames, stack.Frame{Func: f})
		}
		if got := takesLock(frames); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}
