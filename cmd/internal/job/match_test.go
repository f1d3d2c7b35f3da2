package job

import (
	"errors"
	"fmt"
	"testing"

	"sdm/launch"
	"sdm/launch/ssh"
	"sdm/protocol"
)

func TestNumbered(t *testing.T) {
	line := func(host string, pids ...int) []byte {
		var table protocol.Proctable
		for _, pid := range pids {
			table = append(table, protocol.Process{PID: pid})
		}
		var err error
		if len(pids) == 0 {
			err = errors.New("nothing")
		}
		return launch.AppendFound(nil, host, table, launch.Whole{Size: launch.Unknown}, err)
	}
	table, troubles, err := numbered([]ssh.Answer{
		{Out: line("b", 30, 7)}, {Out: line("c")}, {Out: line("a", 12)}, {Out: line("a", 12)}, {Err: errors.New("d: no route")},
	})
	if got, want := fmt.Sprint(table, err), "[{0 a 12 } {1 b 7 } {2 b 30 }] <nil>"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if len(troubles) != 2 || troubles[0] != "c: nothing" {
		t.Errorf("%q", troubles)
	}
	if _, _, err := numbered([]ssh.Answer{{Out: line("a", 5, 5)}}); err == nil {
		t.Error("one process is two ranks")
	}
}
