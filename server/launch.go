// The commands launch and attach.

package server

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"

	"sdm/backend"
	"sdm/launch"
	"sdm/launch/local"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/tree"
)

// launch starts the program on ranks, held before their first instruction, and hands them to the
// back end. Ranks that could not be started answer here.
func (s *Server) launch(d tree.Deliver, args protocol.Args) {
	if s.refuseWhenClosed(d, "launch") {
		return
	}
	if args.Job == nil {
		s.up.reply(d.ID, fault(d.Ranks, protocol.FaultUsage, "launch", "no job is given", ""))
		return
	}
	b := batch{id: d.ID, limit: args.Limit}
	for r := range d.Ranks.All() {
		j := s.effective(args.Job.For(r))
		p, err := s.start(r, j, d.ID)
		if err != nil {
			s.noteFailed(r)
			s.up.reply(d.ID, s.withHost(errorGroup(one(r), "launch", err), args.Limit))
			continue
		}
		b.add(s.target(r, p, j), protocol.Started{Program: s.programOf(r, j)})
	}
	s.handOver(b, args.Job.StopAt, d, &args)
}

// effective returns the job as it runs here: in a slot, with the program that the starter was
// given.
func (s *Server) effective(j protocol.Job) protocol.Job {
	if s.cfg.Slot != nil {
		j.Program, j.Args = s.cfg.Slot.Program, s.cfg.Slot.Args
	}
	return j
}

// programOf returns the program of rank r as the user or the starter has named it.
func (s *Server) programOf(r rank.ID, j protocol.Job) string {
	if remote := s.cfg.Remotes[r]; remote != nil && remote.Program != "" {
		return remote.Program
	}
	return j.Program
}

// start forks and holds one rank, here or in the rank's own slot. A simulated rank has no process;
// it is only recorded.
func (s *Server) start(r rank.ID, j protocol.Job, id protocol.RequestID) (*process, error) {
	if err := s.isFree(r); err != nil {
		return nil, err
	}
	if s.cfg.Forker == nil {
		s.addOther(r)
		return nil, nil
	}
	p := newProcess(r, id)
	p.job = &j
	env := append(slices.Clone(j.Env), protocol.EnvDirective{Op: "set", Name: "SDM_RANK", Value: strconv.Itoa(int(r))})
	if j.Size > 0 {
		env = append(env, protocol.EnvDirective{Op: "set", Name: "SDM_SIZE", Value: strconv.Itoa(j.Size)})
	}
	var err error
	if remote := s.cfg.Remotes[r]; remote != nil {
		p.child, err = s.startThere(remote, j, env)
	} else {
		p.child, err = s.startHere(r, j, env)
	}
	if err != nil {
		return nil, err
	}
	return p, s.adopt(p)
}

func (s *Server) startHere(r rank.ID, j protocol.Job, directives []protocol.EnvDirective) (*local.Process, error) {
	env, err := launch.Environ(s.cfg.Env, directives)
	if err != nil {
		return nil, &protocol.Fault{Kind: protocol.FaultUsage, Message: err.Error()}
	}
	return s.cfg.Forker.Hold(local.Spec{
		Rank: r, Program: j.Program, Args: j.Args, Cwd: j.Cwd, Env: env,
		Stdin: j.Stdin.Contains(r), Through: s.cfg.Through, TTY: j.TTY,
	})
}

// startThere makes the process in the rank's own slot start the rank: that process has the
// environment, the descriptors and the parent that the starter intended for the rank.
func (s *Server) startThere(remote *local.Remote, j protocol.Job,
	directives []protocol.EnvDirective) (*local.Process, error) {
	spec := local.HoldSpec{
		Program: j.Program, Args: j.Args, Cwd: j.Cwd, Env: directives,
		Stdin: j.Stdin.Contains(remote.Rank), Through: s.cfg.Through, TTY: j.TTY,
	}
	if remote.Program != "" { // the slot of the rank has a program of its own
		spec.Program, spec.Args = "", nil
	}
	return remote.Hold(spec)
}

// adopt starts the goroutines of a new child process: those that read its output, and the one that
// waits for its end.
func (s *Server) adopt(p *process) error {
	if p.child.Stdin != nil {
		p.in = &feeder{file: p.child.Stdin}
	}
	if p.child.Stdout != nil {
		var err error
		if p.out, err = newOutput(p.rank, s.up, p.child.Stdout, p.child.Stderr); err != nil {
			p.kill()
			return err
		}
	}
	s.addProcess(p)
	p.startForwarding()
	s.waiters.Go(func() {
		exit := p.child.Wait()
		s.queue.do(task{run: func() { s.ended(p, exit) }})
	})
	return nil
}

// ended tells the back end that a rank has ended and was waited for.
func (s *Server) ended(p *process, exit protocol.Exit) {
	if !s.closed && s.find(p.rank) == p && !p.isDetached() {
		s.backend.Ended(p.rank, exit)
	}
}

// isFree returns a fault if the rank has a process or a core file already.
func (s *Server) isFree(r rank.ID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.processes[r]; p != nil && !p.isEnded() || s.others.live().Contains(r) {
		return &protocol.Fault{Kind: protocol.FaultState, Message: "the rank is there already", Hint: "kill it first"}
	}
	return nil
}

// target describes a started rank for the back end; p is nil for a simulated rank.
func (s *Server) target(r rank.ID, p *process, j protocol.Job) backend.Target {
	t := backend.Target{Rank: r, Program: j.Program, Held: true}
	switch {
	case p != nil:
		t.PID, t.Program = p.child.PID, p.child.Program
	case s.cfg.SimulatedPID != nil:
		t.PID = s.cfg.SimulatedPID(r)
	}
	return t
}

// attach attaches to running processes.
func (s *Server) attach(d tree.Deliver, args protocol.Args) {
	if s.refuseWhenClosed(d, "attach") {
		return
	}
	pids, unfit, err := s.pidsOf(args)
	if err != nil {
		s.up.reply(d.ID, fault(d.Ranks, protocol.FaultLaunch, "attach", err.Error(), ""))
		return
	}
	b := batch{id: d.ID, limit: args.Limit}
	beneath := s.beneath(d.Ranks, pids)
	for r := range d.Ranks.All() {
		t, err := s.targetOf(r, pids[r])
		if bad := unfit[r]; err == nil && bad != nil {
			err = &protocol.Fault{Kind: protocol.FaultLaunch, Message: bad.Error()}
		}
		if err != nil {
			s.up.reply(d.ID, s.withProcess(errorGroup(one(r), "attach", err), pids[r], args.Limit))
			continue
		}
		if wrapper, program := t, beneath[t.PID]; program > 0 {
			if t, err = s.targetOf(r, program); err != nil { // it has ended meanwhile
				t = wrapper
			} else {
				b.note(r, "the rank is "+path.Base(t.Program)+", run by "+path.Base(wrapper.Program))
			}
		}
		s.takeSettings(t.PID)
		s.addOther(r)
		s.setOwn(r, args.Own)
		b.add(t, protocol.Started{Program: t.Program, Attached: true})
	}
	s.handOver(b, args.Location, d, &args)
}

// beneath returns, by the process id of a rank that is a wrapper, the process of the program that it
// runs; see launch.RankFrom.Beneath.
func (s *Server) beneath(ranks rank.Set, pids map[rank.ID]int) map[int]int {
	if s.cfg.Forker == nil {
		return nil
	}
	var all []int
	for r := range ranks.All() {
		if pid := pids[r]; pid > 0 {
			all = append(all, pid)
		}
	}
	return s.cfg.RankFrom.Beneath(all)
}

// pidsOf returns the process of each rank, from args, else from a job, else from Config.Existing.
// unfit is the reason, by rank, why a process is not the task of srun that args describe.
func (s *Server) pidsOf(args protocol.Args) (pids map[rank.ID]int, unfit map[rank.ID]error, err error) {
	pids, unfit = map[rank.ID]int{}, map[rank.ID]error{}
	for r, pid := range s.cfg.Existing {
		pids[r] = pid
	}
	if args.JobID != "" {
		table, _, err := s.cfg.RankFrom.RanksOfJob(args.JobID, s.cfg.Host)
		if err != nil {
			return nil, nil, err
		}
		for _, p := range table {
			pids[p.Rank] = p.PID
		}
	}
	for _, p := range args.Pids {
		pids[p.Rank] = p.PID
		if p.Task == "" || s.cfg.Forker == nil {
			continue
		}
		if pid, err := launch.TaskOf(p.PID, int(p.Rank), p.Task); err == nil {
			pids[p.Rank] = pid
		} else {
			unfit[p.Rank] = err
		}
	}
	return pids, unfit, nil
}

// targetOf checks the process of a rank before it is attached to.
func (s *Server) targetOf(r rank.ID, pid int) (backend.Target, error) {
	if err := s.isFree(r); err != nil {
		return backend.Target{}, err
	}
	if pid <= 0 {
		return backend.Target{}, &protocol.Fault{Kind: protocol.FaultUsage, Message: "no process is named for the rank"}
	}
	t := backend.Target{Rank: r, PID: pid}
	if s.cfg.Forker == nil {
		return t, nil
	}
	if err := launch.RefuseOurselves(pid); err != nil {
		return t, &protocol.Fault{Kind: protocol.FaultLaunch, Message: err.Error()}
	}
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err != nil {
		return t, &protocol.Fault{Kind: protocol.FaultLaunch, Message: "there is no such process, or no longer"}
	}
	// An error (permission denied) is ignored: gdb reports the cause.
	t.Program, _ = os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	return t, nil
}

// takeSettings calls Config.TakeSettings for each process until a call succeeds.
func (s *Server) takeSettings(pid int) {
	if s.cfg.TakeSettings == nil {
		return
	}
	// After an error the process has ended or belongs to another user, which attaching reports.
	if err := s.cfg.TakeSettings(pid); err != nil {
		s.cfg.Log.Info("the environment is not that of a rank", "err", err)
		return
	}
	s.cfg.TakeSettings = nil
}
