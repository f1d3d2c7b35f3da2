// A session as in sdm run: the master in this process, the servers in others.

package main

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"time"

	"sdm/launch/local"
	"sdm/launch/secret"
	"sdm/master"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/tree"
	"sdm/tree/overlay"
)

// patience limits every wait for a session.
const patience = 5 * time.Minute

// job is a session with servers on this machine.
type job struct {
	talk
	servers *local.Servers
	key     secret.Key
}

// startJob starts servers with a block of ranks each and builds a binomial tree.
func startJob(binary string, servers, each int, args ...string) *job {
	return startTree("binomial", binary, servers, each, args...)
}

// startTree is startJob with a tree of another shape.
func startTree(shape, binary string, servers, each int, args ...string) *job {
	j := &job{key: secret.Fresh()}
	j.ranks = servers * each
	var err error
	if j.servers, err = local.StartServers(local.ServersSpec{N: servers, Binary: binary, Args: args,
		Key: j.key}); err != nil {
		fatal("servers", err)
	}
	j.trouble = j.servers.Trouble
	if j.master, err = master.New(master.Config{Dial: j.dial, Wait: patience}); err != nil {
		fatal("master", err)
	}
	table := protocol.RouteTable{Shape: shape, Size: servers, Routes: j.servers.Routes}
	for i := range table.Routes {
		table.Routes[i].Ranks = rank.Range(rank.ID(i*each), rank.ID((i+1)*each-1))
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := j.master.Init(ctx, table, patience); err != nil {
		fatal("tree", fmt.Errorf("%w\n%s", err, j.servers.Trouble()))
	}
	return j
}

// dial connects to a child of the root; see master.Config.
func (j *job) dial(ctx context.Context, child tree.NodeID, r protocol.Route) (overlay.Link, error) {
	self := overlay.Identity{Size: len(j.servers.Routes), Host: r.Host}
	if len(r.Addrs) > 0 {
		link, _, err := overlay.Dial(ctx, r.Addrs, r.Ports, overlay.Secret(j.key), self, child)
		return link, err
	}
	link, err := overlay.FromFiles(j.servers.Link.In, j.servers.Link.Out, "server "+strconv.Itoa(int(r.Server)))
	if err == nil {
		_, err = overlay.Greet(ctx, link, self, child)
	}
	return link, err
}

// close ends the session and the servers.
func (j *job) close() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	go func() {
		for range j.master.Events() {
		}
	}()
	if err := j.master.Close(ctx); err != nil {
		fatal("end of session", err)
	}
	if err := j.servers.Close(ctx); err != nil {
		fatal("end of servers", err)
	}
}

// run runs a command that prepares a measurement.
func (b *bench) run(name string, args ...string) {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		fatal(name, fmt.Errorf("%w\n%s", err, out))
	}
}
