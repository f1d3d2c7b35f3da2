// Calls and requests as texts for users.

package mpi

import (
	"fmt"
	"strconv"
	"strings"

	"sdm/backend/probe/internal/argument"
)

// maxShown bounds the requests that a short text names.
const maxShown = 3

// Short returns what a call waits for, in short: "from 2 tag 99", "root 3", "MPI_SUM on solver". Peers
// and roots are world ranks; what is not known is "?"; "": there is nothing to say.
func (c *Call) Short(l *Library) string {
	var parts []string
	for i := range c.Args {
		a := &c.Args[i]
		switch a.Kind {
		case Peer:
			parts = append(parts, direction(a.Name)+" "+c.peer(l, a))
		case Tag:
			parts = append(parts, "tag "+a.wild())
		case Root:
			parts = append(parts, "root "+c.peer(l, a))
		case Op:
			if name := l.Operation(l.Family.handle(a.Value)); a.Known && name != "" {
				parts = append(parts, name)
			}
		}
	}
	for i, q := range c.Requests {
		if i == maxShown {
			parts = append(parts, fmt.Sprintf("and %d more", len(c.Requests)-i))
			break
		}
		if i > 0 {
			parts = append(parts, "and")
		}
		parts = append(parts, q.String())
	}
	if a := c.arg(Comm); a != nil {
		switch {
		case c.Comm == nil:
			parts = append(parts, "on ?")
		case c.Comm.Name != "MPI_COMM_WORLD":
			parts = append(parts, "on "+c.Comm.String())
		}
	}
	return strings.Join(parts, " ")
}

// Evidence returns where the arguments of a call were found, or why they are not known:
// "; source: function, caller; tag: not found".
func (c *Call) Evidence() string {
	var text strings.Builder
	for i := range c.Args {
		a := &c.Args[i]
		switch a.Kind {
		case Peer, Tag, Root, Op, Comm, Requests, Window, File:
		default:
			continue
		}
		why := strings.Join(a.Found, ", ")
		if !a.Known {
			why = a.Why
		} else if a.Grade == argument.Memory {
			why += " (memory as it is now)"
		}
		text.WriteString("; " + a.Name + ": " + why)
	}
	for i, q := range c.Requests {
		if i == maxShown {
			break
		}
		if q.Why != "" {
			fmt.Fprintf(&text, "; request %d: %s", i, q.Why)
		}
	}
	return text.String()
}

// direction returns the preposition for a peer, by the name of its parameter.
func direction(name string) string {
	if name == "source" {
		return "from"
	}
	return "to"
}

// peer returns a peer or root as a world rank. Those that are not in MPI_COMM_WORLD, and roots in the remote
// group, are numbers in their group.
func (c *Call) peer(l *Library, a *Argument) string {
	switch {
	case !a.Known:
		return "?"
	case a.Value == AnySource:
		return "any"
	case a.Value == NoPeer:
		return "none"
	case c.Comm == nil:
		return "?"
	case a.Kind == Root && c.Comm.Remote != nil && l.Family.peer(int(a.Value)) == NoPeer:
		return "in the own group" // another rank has said MPI_ROOT
	case a.Kind == Root && c.Comm.Remote != nil && a.Value < 0:
		return "is the rank itself" // MPI_ROOT
	case a.Kind == Root && c.Comm.Remote != nil:
		return strconv.FormatInt(a.Value, 10) + " of the remote group"
	}
	return c.Comm.peer(int(a.Value))
}

// peer returns a peer as a world rank. Of one that is not in MPI_COMM_WORLD it says so; "?": there is no such peer.
func (c *Communicator) peer(peer int) string {
	if r, ok := c.worldRank(peer); ok {
		return strconv.Itoa(r)
	}
	if peer < 0 || peer >= len(c.peers()) {
		return "?"
	}
	return strconv.Itoa(peer) + " of another job"
}

// wild formats a tag.
func (a *Argument) wild() string {
	switch {
	case !a.Known:
		return "?"
	case a.Value == AnyTag:
		return "any"
	}
	return strconv.FormatInt(a.Value, 10)
}

// String returns what a request waits for: "receive from 3 tag 41", "send to ?".
func (q Request) String() string {
	word := map[string]string{"send": "send to ", "receive": "receive from "}[q.Kind]
	switch {
	case q.Why == "null":
		return "no request"
	case q.Kind == "collective" && q.Comm != nil:
		return "collective on " + q.Comm.String()
	case q.Kind == "collective":
		return "collective on ?"
	case word == "" && q.Done:
		return "a complete request"
	case word == "":
		return "request of ?"
	case q.Why != "" && q.Done:
		return word + "? (complete)"
	case q.Why != "":
		return word + "?"
	}
	peer, tag := "any", "any"
	if q.Peer == NoPeer {
		peer = "none"
	} else if q.Peer != AnySource {
		peer = q.Comm.peer(q.Peer)
	}
	if q.Tag != AnyTag {
		tag = strconv.Itoa(q.Tag)
	}
	text := word + peer + " tag " + tag
	if q.Done {
		text += " (complete)"
	}
	return text
}
