// Jobs of PALS, under PBS.

package job

import (
	"context"
	"fmt"
	"os/exec"

	"sdm/cmd/internal/servers"
	"sdm/launch/pals"
	"sdm/protocol"
	"sdm/protocol/userfile"
)

// findByPBS finds the ranks of a job of PBS that PALS has started.
func (f finder) findByPBS(ctx context.Context, text string) (servers.Placement, error) {
	j, err := pals.ParseJob(text)
	if err != nil {
		return servers.Placement{}, misused("%w", err)
	}
	inTime, cancel := servers.Bounded(ctx, f.Clock.Left(), "--connect-wait")
	defer cancel()
	app, err := pals.FindJob(inTime, f.Env, j)
	if err != nil {
		return servers.Placement{}, fmt.Errorf("pbs:%s: %w", text, err)
	}
	return f.ofPALS(inTime, "pbs:"+text, app)
}

// findByAPID finds the ranks of an application of PALS. Within a job of PBS its first node is
// asked, else this host.
func (f finder) findByAPID(ctx context.Context, text string) (servers.Placement, error) {
	id, err := pals.ParseAPID(text)
	if err != nil {
		return servers.Placement{}, misused("%w", err)
	}
	inTime, cancel := servers.Bounded(ctx, f.Clock.Left(), "--connect-wait")
	defer cancel()
	app, err := palsHere(ctx, f.Builder, id)
	if err != nil {
		return servers.Placement{}, fmt.Errorf("pals:%s: %w", text, err)
	}
	p, err := f.ofPALS(inTime, "pals:"+text, app)
	if err != nil && f.Lookup(nodeFile) == "" {
		err = fmt.Errorf("%w; outside of its job give pbs:JOBID:%s", err, id)
	}
	return p, err
}

// nodeFile is the variable by which PBS names the file of the nodes of a job.
const nodeFile = "PBS_NODEFILE"

// palsHere returns an application of the job in which this process runs, or of this host.
func palsHere(ctx context.Context, b *servers.Builder, id pals.APID) (pals.Application, error) {
	app := pals.Application{Node: servers.HostName(), ID: id, Env: b.Env}
	path := b.Lookup(nodeFile)
	if path == "" {
		return app, nil
	}
	text, err := userfile.Read(ctx, path, userfile.MaxText)
	if err == nil {
		app.Node, err = pals.FirstLine(string(text))
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", nodeFile, err)
	}
	return app, err
}

// ofPALS returns the placement of an application. name is what the user has called it.
func (f finder) ofPALS(ctx context.Context, name string, app pals.Application) (servers.Placement, error) {
	table, err := app.Ranks(ctx)
	if err != nil {
		return servers.Placement{}, fmt.Errorf("%s: %w", name, err)
	}
	return servers.Placement{Table: table, ID: string(app.ID), Beside: besideInPALS(app, table)}, nil
}

// besideInPALS returns how palscmd starts the servers of an application.
func besideInPALS(app pals.Application, table protocol.Proctable) *servers.Beside {
	return &servers.Beside{
		Start: func(command []string, _ []byte) (servers.Started, error) {
			return app.Start(context.Background(), command)
		},
		Copy: func(ctx context.Context, program, to string) error {
			var hosts []string
			for _, n := range table.Nodes() {
				hosts = append(hosts, n.Host)
			}
			return app.Copy(ctx, hosts, program, to)
		},
	}
}

// usePALS lets palscmd start the servers if the ID of the job, known by MPIR, is an APID and so the
// starter is one of PALS. whole is the table of all ranks.
func usePALS(ctx context.Context, b *servers.Builder, p *servers.Placement, whole protocol.Proctable) {
	id, err := pals.ParseAPID(p.ID)
	if err != nil {
		return
	}
	if _, err := exec.LookPath("palscmd"); err != nil {
		return
	}
	if app, err := palsHere(ctx, b, id); err == nil {
		p.Beside = besideInPALS(app, whole)
	}
}

// palsEnv are the directives, by starter, with which PALS starts a job that tools can reach: also if
// it has one node, and if its ranks are held for minutes.
var palsEnv = map[string][]protocol.EnvDirective{
	"mpiexec": {{Op: "add", Name: "PALS_LOCAL_LAUNCH", Value: "0"}, {Op: "add", Name: "PALS_RPC_TIMEOUT", Value: "300"}},
	"aprun":   {{Op: "add", Name: "APRUN_LOCAL_LAUNCH", Value: "0"}, {Op: "add", Name: "APRUN_RPC_TIMEOUT", Value: "300"}},
}
