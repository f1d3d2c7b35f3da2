package launch

import (
	"os"
	"os/exec"
	"testing"

	"sdm/protocol"
)

func TestUnconnected(t *testing.T) {
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer in.Close()
	table := protocol.Proctable{{Rank: 4, PID: cmd.Process.Pid}, {Rank: 7, PID: 1 << 30}}
	if got := Unconnected(table).String(); got != "4" {
		t.Errorf("without a socket: %s", got)
	}
	dir := t.TempDir()
	if hasSocket(dir) || os.Symlink("socket:[7]", dir+"/3") != nil || !hasSocket(dir) {
		t.Error("a socket is not found, or one that is not there")
	}
}
