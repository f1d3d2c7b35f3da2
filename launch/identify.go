// Package launch provides what is needed to start the ranks of a job, or to find the ranks of a
// running one: what a starter tells a process about itself, the processes of jobs, and the
// environment that ranks get.
package launch

import (
	"fmt"
	"strconv"
	"strings"
)

// Unknown stands for a number that the starter did not give.
const Unknown = -1

// Identity is what the environment of a process says about its place in the job that it was
// started with. The zero value does not mean unknown: use Identify.
type Identity struct {
	Number int // rank in the job, Unknown if no starter is recognised
	Size   int // number of ranks of the job
	Local  int // rank among the ranks of the same node
	Node   int // index of the node
	// LocalSize is how many ranks of the job are on the same node.
	LocalSize int
	Host      string // the starter's name of this node, "" if it does not say
	Job       string // the starter's name of the job, "" if it does not say
	Source    string // the variable that gave Number, for users
	// Within is the Slurm job in which a starter other than srun has started the process: mpirun
	// in an allocation. "" for all other processes.
	Within string
}

// Identify reads an environment (NAME=VALUE). Without a known starter all numbers are Unknown and
// Source is empty. An invalid number is an error: with another variable in its place, two
// processes could get one number.
func Identify(env []string) (Identity, error) { return RankFrom{}.Identify(env) }

// Identify is the function Identify for the variables that the user has named; without any it is
// the same.
func (f RankFrom) Identify(env []string) (Identity, error) {
	vars := lookup(env)
	id := Identity{Number: Unknown, Size: Unknown, Local: Unknown, Node: Unknown, LocalSize: Unknown}
	for _, s := range f.starters() {
		if !s.started(vars) {
			continue
		}
		err := id.fill(vars, s)
		if err == nil {
			err = id.complete(vars)
		}
		if err == nil && id.Size != Unknown && id.Number >= id.Size {
			err = fmt.Errorf("%s is %d, but the size of the job is %d", id.Source, id.Number, id.Size)
		}
		return id, err
	}
	return id, nil
}

// complete takes what the starter has left out from the variables of a resource manager, if that has
// started the same process. If another starter has started the process in a job of Slurm, complete
// sets Within.
func (id *Identity) complete(vars variables) error {
	for _, m := range managers {
		if !m.started(vars) || vars[m.rank] != strconv.Itoa(id.Number) || id.isOfAgent() {
			continue
		}
		if err := id.fill(vars, m); err != nil || m.rank == slurm.rank {
			return err
		}
		break
	}
	if id.Source != slurm.rank {
		id.Within = vars["SLURM_JOB_ID"]
	}
	return nil
}

// isOfAgent reports whether the starter is an agent of which one runs on each node, as a task of the
// resource manager: the variables of the resource manager then describe the agent.
func (id *Identity) isOfAgent() bool { return id.Source == torchrun.rank || id.Source == horovod.rank }

// fill takes the values that are still unknown from the variables of one starter.
func (id *Identity) fill(vars variables, s starter) error {
	numbers := []struct {
		into  *int
		names []string
	}{{&id.Number, []string{s.rank}}, {&id.Size, s.size}, {&id.Local, s.local}, {&id.Node, s.node},
		{&id.LocalSize, s.localSize}}
	for _, n := range numbers {
		if *n.into != Unknown {
			continue
		}
		name, value := first(vars, n.names)
		if value == "" {
			continue
		}
		number, err := strconv.Atoi(value)
		if err != nil || number < 0 {
			return fmt.Errorf("%s=%q is not a number of a process", name, value)
		}
		*n.into = number
	}
	if id.Source == "" {
		id.Source = s.rank
	}
	if id.LocalSize == Unknown && s.localSizeOf != nil {
		id.LocalSize = s.localSizeOf(vars)
	}
	if id.Host == "" {
		_, id.Host = first(vars, s.host)
	}
	if id.Job == "" {
		_, id.Job = first(vars, s.job)
	}
	if id.Job == "" && s.jobOf != nil {
		id.Job = s.jobOf(vars)
	}
	return nil
}

func first(vars variables, names []string) (name, value string) {
	for _, n := range names {
		if vars[n] != "" {
			return n, vars[n]
		}
	}
	return "", ""
}

func lookup(env []string) variables {
	vars := make(variables, len(env))
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		if _, have := vars[name]; !have { // as in getenv(3), the first one counts
			vars[name] = value
		}
	}
	return vars
}
