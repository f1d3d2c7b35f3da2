// Reasons why a rank could not be handed to another gdb.

package gdb

import (
	"errors"
	"os/exec"
	"testing"

	"sdm/backend/gdb/inferior"
)

func TestNotReady(t *testing.T) {
	const none = 1 << 30 // above the highest process ID of Linux
	if f := notReady(unready{inferior.RemoveBreakpoints(none)}); f == nil || f.Message != "its process has ended" {
		t.Errorf("of a process that has ended: %+v", f)
	}
	if f := notReady(unready{errors.New("it is frozen")}); f == nil || f.Message != "it is frozen" {
		t.Errorf("of another reason: %+v", f)
	}
	if f := notReady(&exec.Error{Name: "gdb", Err: exec.ErrNotFound}); f != nil {
		t.Errorf("of a gdb that is not there: %+v", f)
	}
}
