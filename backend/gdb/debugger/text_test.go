package debugger

import (
	"slices"
	"testing"
)

func TestWarningsOfCoresFold(t *testing.T) {
	text := "warning: Unexpected size of section `.reg-xstate/12942' in core file.\n\nwarning: Unexpected size of section `.reg-xstate/12943' in core file.\nother\n"
	want := []string{"warning: Unexpected size of section `.reg-xstate/PID' in core file."}
	if got := warnings(text); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	text = "warning: Can't open file /dev/shm/seg.1 during file-backed mapping note processing\nother\nwarning: Can't open file /dev/shm/seg.2 during file-backed mapping note processing\n" +
		"warning: Can't open file /tmp/job/data during file-backed mapping note processing\nwarning: core file may not match specified executable file.\n"
	want = []string{"warning: Can't open files that were mapped, in /dev/shm, /tmp/job", "warning: core file may not match specified executable file."}
	if got := warnings(text); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
