package text

import "testing"

func TestCaught(t *testing.T) {
	for typed, want := range map[string]string{
		"syscall": `syscall "<any syscall>"`, "syscall write": `syscall "write"`, "syscall write exit_group": `syscalls "write, exit_group"`,
		"signal": `signal "<standard signals>"`, "signal all": `signal "<any signal>"`, "signal SIGUSR1": `signal "SIGUSR1"`,
		"signal SIGUSR1 SIGINT": `signals "SIGUSR1 SIGINT"`, "load": "load of library", "unload libx": "unload of library matching libx",
		"throw": "exception throw", "fork": "fork",
	} {
		if got := caught(typed); got != want {
			t.Errorf("%s: %q", typed, got)
		}
	}
}
