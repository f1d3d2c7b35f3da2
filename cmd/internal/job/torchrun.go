// Running jobs of torchrun. Each node has an agent of its own, and none knows the processes of
// another: the hosts are asked.

package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"sdm/cmd/internal/servers"
	"sdm/launch"
	"sdm/launch/slurm"
	"sdm/protocol"
)

// maxHosts bounds the names of hosts that a user gives.
const maxHosts = 1 << 16

// ReadHosts reads the names of hosts, separated by commas or blanks, or from a file ("@FILE", one
// a line; further words of a line, such as a number of slots, are ignored).
func ReadHosts(text string) ([]string, error) {
	var hosts []string
	if path, is := strings.CutPrefix(text, "@"); is {
		b, err := os.ReadFile(path)
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
	return f.askHosts(ctx, cmp.Or(id, name), hosts, "--jobid", name)
}

// jobHosts returns the hosts that the user has named, or else those of the allocation in which sdm
// runs, or else this host. id is the job of Slurm whose srun reaches them; "": none.
func (f finder) jobHosts(ctx context.Context) (id string, hosts []string, err error) {
	if f.Hosts != "" {
		hosts, err = ReadHosts(f.Hosts)
		return "", hosts, err
	}
	if file := f.Lookup("PBS_NODEFILE"); file != "" {
		if hosts, err := ReadHosts("@" + file); err == nil {
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

// elsewhere asks why ranks are not found on the hosts that were asked.
func (f finder) elsewhere(name string) string {
	if f.Hosts == "" && launch.IsTorchrun(name) {
		return "are they on other hosts? --hosts HOST,HOST... names them"
	}
	return "have they ended?"
}

// heldTooLong tells what the time-outs of a job do while its ranks are held, if it is known from a
// rank of this host.
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
