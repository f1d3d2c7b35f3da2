// Silent parents.

package treetest_test

import (
	"slices"
	"testing"
	"time"

	"sdm/protocol"
	"sdm/tree/treetest"
)

// silent returns a tree of 15 servers that has been built. Server 7 (vertex 8) has
// servers 8 to 14 below it.
func silent(t *testing.T) (*treetest.Net, *treetest.Master) {
	t.Helper()
	table := treetest.Table("binomial", 15, 1, false)
	table.Heartbeat, table.Silence = 5000, 15000
	master := treetest.NewMaster()
	net := treetest.NewNet(treetest.Config{Table: table, Backend: treetest.Play, Master: master.Receive})
	master.Build(net, 1, time.Minute)
	net.Run(time.Minute)
	return net, master
}

func alive(n *treetest.Net) (list []protocol.ServerID) {
	for id := range protocol.ServerID(15) {
		if n.Alive(id) {
			list = append(list, id)
		}
	}
	return list
}

// If a server is frozen and the master is gone, the servers below it leave after
// ten times the silence (and a minute, for those that wait to be adopted).
func TestServersBelowAFrozenOneWithoutAMaster(t *testing.T) {
	net, _ := silent(t)
	net.Freeze(7, time.Hour)
	net.KillMaster()
	net.Run(130 * time.Second)
	for id := protocol.ServerID(7); id < 15; id++ {
		if !net.Alive(id) {
			t.Fatalf("server %d has left early", id)
		}
	}
	net.Run(5 * time.Minute)
	if got := alive(net); len(got) != 1 || got[0] != 7 {
		t.Errorf("%v are there, want only the frozen one", got)
	}
	net.Run(time.Hour)
	if got := alive(net); len(got) != 0 {
		t.Errorf("%v are there, long after", got)
	}
}

// The servers below a frozen server are adopted while there is a master, and stay.
// If the master is frozen for an hour, or all vertices are, no server is lost.
func TestFrozenVerticesLoseNoServer(t *testing.T) {
	for name, c := range map[string]struct {
		freeze func(*treetest.Net)
		want   int
	}{
		"a server":   {func(n *treetest.Net) { n.Freeze(7, time.Hour) }, 14},
		"the master": {func(n *treetest.Net) { n.FreezeMaster(time.Hour) }, 15},
		"all": {func(n *treetest.Net) {
			n.FreezeMaster(time.Hour)
			for id := range protocol.ServerID(15) {
				n.Freeze(id, time.Hour)
			}
		}, 15},
	} {
		t.Run(name, func(t *testing.T) {
			net, master := silent(t)
			c.freeze(net)
			net.Run(2 * time.Hour)
			if got := alive(net); len(got) != c.want {
				t.Errorf("%v are there, want %d", got, c.want)
			}
			if len(master.Errors) > 0 {
				t.Error(master.Errors)
			}
		})
	}
}

// At the end of a session what is below a silent server is told of it, too, within 5 s: also if a second one is
// silent. Server 7 has servers 8, 9, 11 as children, and 12 is below 11.
func TestEndPassesSilentServers(t *testing.T) {
	for name, frozen := range map[string][]protocol.ServerID{"one": {7}, "its child, too": {7, 9}, "two beside each other": {7, 3}, "none": nil} {
		t.Run(name, func(t *testing.T) {
			net, _ := silent(t)
			for _, id := range frozen {
				net.Freeze(id, time.Hour)
			}
			net.Quit()
			net.Run(5 * time.Second)
			for id := range protocol.ServerID(15) {
				below := len(frozen) > 1 && frozen[1] == 9 && id == 10 // the only one whose both ancestors are silent
				if want := !slices.Contains(frozen, id) && !below; net.Told(id) != want {
					t.Errorf("server %d told: %v", id, !want)
				}
			}
		})
	}
}
