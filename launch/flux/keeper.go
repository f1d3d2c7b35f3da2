// A shell that ends the job of a flux run if this process is killed.

package flux

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// keeper is a shell in a session of its own that ends the job of a flux run if this process is
// killed, because the ranks of the job would be held for ever. It waits for the end of a pipe. The
// job is read from the command line of flux run, as in JobOf.
type keeper struct {
	cmd  *exec.Cmd
	pipe *os.File
}

// keeperScript is the script of the keeper; $1 is the process of flux run, which may have ended.
const keeperScript = `trap '' HUP INT QUIT TERM
read -r word && exit
line=$(tr '\0' '\n' <"/proc/$1/cmdline") || exit
case $line in
*flux-job?attach?*) id=${line##*
}
	flux job kill -s KILL "$id"
	exec flux cancel "$id" ;;
*) kill "$1" ;;
esac`

func startKeeper(env []string, pid int) (*keeper, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	k := &keeper{cmd: exec.Command("/bin/sh", "-c", keeperScript, "sdm-keeper", strconv.Itoa(pid)), pipe: w}
	k.cmd.Env, k.cmd.Stdin = env, r
	k.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := k.cmd.Start(); err != nil {
		w.Close()
		return nil, fmt.Errorf("start the keeper of flux run: %w", err)
	}
	return k, nil
}

// dismiss ends the keeper: the job has ended.
func (k *keeper) dismiss() {
	if k == nil {
		return
	}
	fmt.Fprintln(k.pipe, "done")
	k.pipe.Close()
	k.cmd.Wait()
}
