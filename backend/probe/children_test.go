package probe

import (
	"strings"
	"testing"

	"sdm/protocol/stack"
)

func TestIdleChildren(t *testing.T) {
	const lib = "/usr/lib/python3.11/"
	for _, c := range []struct {
		name   string
		frames string // outermost first: function, file
		idle   bool
	}{
		{"a worker in its work", "main /x/pool.py|BaseProcess._bootstrap " + lib + "multiprocessing/process.py|worker " + lib + "multiprocessing/pool.py|work /x/pool.py", false},
		{"a worker without work, after a fork", "main /x/pool.py|BaseProcess._bootstrap " + lib + "multiprocessing/process.py|worker " + lib + "multiprocessing/pool.py|SimpleQueue.get " + lib + "multiprocessing/queues.py", true},
		{"a worker that was spawned", "<module> <string>|spawn_main " + lib + "multiprocessing/spawn.py|BaseProcess._bootstrap " + lib + "multiprocessing/process.py|worker " + lib + "multiprocessing/pool.py", true},
		{"a helper of multiprocessing", "<module> <string>|main " + lib + "multiprocessing/resource_tracker.py", true},
		{"python -c", "<module> <string>", false},
		{"a program without Python", "main /x/a.c", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var frames []stack.Frame
			for f := range strings.SplitSeq(c.frames, "|") {
				name, file, _ := strings.Cut(f, " ")
				frames = append(frames, stack.Frame{Func: name, File: file})
			}
			if got := isIdle(frames); got != c.idle {
				t.Errorf("got %v", got)
			}
		})
	}
}
