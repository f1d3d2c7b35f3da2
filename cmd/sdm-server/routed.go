// Servers whose places are in a routing file.

package main

import (
	"context"
	"fmt"
	"path/filepath"

	"sdm/cmd/internal/listen"
	"sdm/launch"
	"sdm/launch/routefile"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/server"
	"sdm/tree"
	"sdm/tree/overlay"
)

// findRoute reads the routing file, which may not be written yet, and finds this server in it. With
// --per-node the servers of a node become one, whose number follows from the file.
func (p *program) findRoute(ctx context.Context) error {
	p.log.Info("waiting for the routing file", "path", p.o.routingFile)
	table, err := routefile.Await(ctx, p.o.routingFile, p.o.connectWait)
	if err != nil {
		return err
	}
	own := rank.ID(p.number.Number)
	if p.o.perNode && p.isWholeNode(table, own) {
		table = routefile.PerNode(table)
	}
	route, ok := routefile.RouteOf(table, own)
	if !ok {
		return fmt.Errorf("routing file %s: there is no server %d in it, only 0 to %d", p.o.routingFile, own, table.Size-1)
	}
	p.route, p.cfg.ID = &route, route.Server
	id := p.self.Identity()
	id.Node, id.Size = tree.NodeID(route.Server)+1, table.Size
	p.self = server.NewSelf(id)
	return nil
}

// isWholeNode reports whether the starter and the routing file agree on which ranks are on this
// node. All servers of a job come to the same result, and the master learns it from one of them.
func (p *program) isWholeNode(table protocol.RouteTable, own rank.ID) bool {
	route, ok := routefile.RouteOf(routefile.PerNode(table), own)
	first, _ := route.Ranks.Min()
	return ok && p.number.Local != launch.Unknown && route.Ranks.Len() == p.number.LocalSize &&
		(own == first) == (p.number.Local == 0)
}

// sharesNode reports whether this server or another one serves several slots.
func (p *program) sharesNode() bool {
	if p.route != nil {
		return p.route.Ranks.Len() > 1
	}
	return p.number.LocalSize != launch.Unknown && p.number.LocalSize > 1 && p.o.ranks == ""
}

// nodeKey derives the secret by which the slots of a job meet on their node. Jobs of one user may
// run side by side, and a routing file is of one job.
func (p *program) nodeKey() (overlay.Secret, error) {
	key, err := p.key()
	if err != nil || p.route == nil {
		return key, err
	}
	path, err := filepath.Abs(p.o.routingFile)
	return key.ForSession("slots of " + p.number.Job + " by " + path), err
}

// routed listens where the routing file says.
func (p *program) routed() (server.Links, error) {
	key, err := p.key()
	if err != nil {
		return server.Links{}, err
	}
	_, base, err := routefile.Address(*p.route)
	if err != nil {
		return server.Links{}, err
	}
	listener, err := listen.All(p.hosts(), base, overlay.MaxPorts)
	if err != nil {
		return server.Links{}, err
	}
	return p.listening(listener, key)
}

// hosts returns the addresses to listen on.
func (p *program) hosts() []string {
	if p.o.listen != "" {
		return []string{p.o.listen}
	}
	return listen.OwnHosts()
}
