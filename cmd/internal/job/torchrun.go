// Running jobs of torchrun. Each node has an agent of its own, and none knows the processes of
// another: the hosts are asked.

package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"sdm/cmd/internal/servers"
	"sdm/launch"
	"sdm/launch/slot"
	"sdm/launch/slurm"
	"sdm/launch/ssh"
	"sdm/protocol"
	"sdm/protocol/userfile"
)

// maxHosts bounds the names of hosts that a user gives.
const maxHosts = 1 << 16

// ReadHosts reads the names of hosts, separated by commas or blanks, or from a file ("@FILE", one
// a line; further words of a line, such as a number of slots, are ignored).
func ReadHosts(ctx context.Context, text string) ([]string, error) {
	var hosts []string
	if path, is := strings.CutPrefix(text, "@"); is {
		b, err := userfile.Read(ctx, path, userfile.MaxText)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(b)) {
			if words := strings.Fields(line); len(words) > 0 && !strings.HasPrefix(words[0], "#") {
				hosts = append(hosts, words[0])
			}
		}
	} else {
		hosts = strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
	}
	for _, host := range hosts {
		if err := protocol.CheckHost(host); err != nil {
			return nil, err
		}
	}
	switch {
	case len(hosts) == 0:
		return nil, errors.New("no hosts are named")
	case len(hosts) > maxHosts:
		return nil, fmt.Errorf("%d hosts are too many", len(hosts))
	}
	slices.Sort(hosts)
	return slices.Compact(hosts), nil
}

// findTorchrun finds the ranks of a job by its name (torchrun:ID, torchrun:ADDRESS:PORT).
func (f finder) findTorchrun(ctx context.Context, name string) (servers.Placement, error) {
	if _, rest, _ := strings.Cut(name, ":"); rest == "" {
		return servers.Placement{}, misused("torchrun: which job? (torchrun:ID of --rdzv_id, or torchrun:ADDRESS:PORT of its master)")
	}
	id, hosts, err := f.jobHosts(ctx)
	if err != nil {
		return servers.Placement{}, err
	}
	if len(hosts) == 1 && f.StartTool == "" && servers.IsHere(hosts[0]) {
		table, of, err := f.ranks().RanksOfJob(name, hosts[0])
		table, err = f.fromAnswers(name, []ssh.Answer{{Host: hosts[0],
			Out: launch.AppendFound(nil, hosts[0], table, of, err)}})
		return servers.Placement{Table: table, ID: cmp.Or(id, name)}, err
	}
	return f.askHosts(ctx, cmp.Or(id, name), hosts, "--jobid", name)
}

// jobHosts returns the hosts that the user has named, or else the hosts of the allocation in which
// sdm runs, or else this host. id is the job of Slurm whose srun reaches them; "": none.
func (f finder) jobHosts(ctx context.Context) (id string, hosts []string, err error) {
	if f.Hosts != "" {
		hosts, err = ReadHosts(ctx, f.Hosts)
		return "", hosts, err
	}
	if file := f.Lookup("PBS_NODEFILE"); file != "" {
		if hosts, err := ReadHosts(ctx, "@"+file); err == nil {
			return "", hosts, nil
		}
	}
	if list := f.Lookup("SLURM_JOB_NODELIST"); list != "" {
		if text, err := f.askSlurm(ctx, slurm.HostNames(list)); err == nil {
			f.UseSlurm()
			return f.Lookup("SLURM_JOB_ID"), strings.Fields(text), nil
		}
	}
	return "", []string{servers.HostName()}, nil
}

// elsewhere returns a question to the user that hints why ranks are not found on the hosts that were
// asked.
func (f finder) elsewhere(name string) string {
	if f.Hosts == "" && launch.IsTorchrun(name) {
		return "are they on other hosts? --hosts HOST,HOST... names them"
	}
	return "have they ended?"
}

// heldTooLong tells the user what the time-outs of a job do while its ranks are held, as the
// environment of the first rank on this host says.
func (f finder) heldTooLong(table protocol.Proctable) {
	for _, p := range table {
		if servers.IsHere(p.Host) {
			if text := launch.HeldTooLong(launch.EnvironOf(p.PID)); text != "" {
				f.Remark(text)
			}
			return
		}
	}
}

// IsTorchrun reports whether a command line is one of torchrun, under this name or as a module of
// Python.
func IsTorchrun(argv []string) bool {
	_, is := slot.IsTorchrun(argv)
	return is
}

// maxShebang bounds what is read of the file of torchrun, in bytes.
const maxShebang = 4 << 10

// interpreterOf returns the Python with which a line of torchrun runs scripts: the one in
// PYTHON_EXEC, or the one that runs torchrun itself (torch/distributed/run.py).
func interpreterOf(argv []string, chosen string) string {
	if chosen != "" {
		return chosen
	}
	if python, _ := slot.IsTorchrun(argv); python != "" {
		return python
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return "python3"
	}
	f, err := os.Open(path)
	if err != nil {
		return "python3"
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, maxShebang)) // a short text names no interpreter
	return pythonOf(string(text))
}

// pythonOf returns the Python that runs a script, by its first two lines. A script whose interpreter
// has a long path begins as a shell script whose second line executes Python:
//
//	'''exec' /path/python3 "$0" "$@"
func pythonOf(script string) string {
	for i, line := range strings.SplitN(script, "\n", 3) {
		words := strings.Fields(strings.TrimPrefix(line, "#!"))
		for _, word := range words {
			word = strings.Trim(word, "'\"")
			if i < 2 && strings.HasPrefix(filepath.Base(word), "python") {
				return word
			}
		}
	}
	return "python3"
}

// aboutTorchrun tells the user what differs from torchrun without sdm.
func (t *start) aboutTorchrun(line slot.Line) {
	if line.Restarts != "" && line.Restarts != "0" {
		t.Remark("torchrun gets --max_restarts=0 in place of " + line.Restarts + ": ranks that it started again would not be those under control")
	}
	worker := append([]string{"RANK=0", "TORCHELASTIC_RUN_ID=none"}, t.Servers.Env...)
	t.Remark(launch.HeldTooLong(worker))
}
