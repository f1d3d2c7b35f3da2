// What the front ends of one session tell one another, and what a command may do.

package protocol

import (
	"slices"
	"strconv"
	"strings"
)

// FrontEnd is one of the front ends of a session, and the body of KindFront.
type FrontEnd struct {
	// Number is unique in the session; the first is 1. The session gives it.
	Number int `json:"front"`
	// Name is what others see: usually the user's name, with the door if it is no console.
	Name string `json:"name"`
	// Door is how it reaches the session: "console", "dap", "mcp", "web", "rpc".
	Door string `json:"door,omitempty"`
	// Host is where it runs, if that is not the session's host.
	Host string `json:"host,omitempty"`
	PID  int    `json:"pid,omitempty"`
	// Change is "came", "left", or "lost" (its connection broke), in an event.
	Change string `json:"change,omitempty"`
}

// Clean bounds the texts of a front end that has introduced itself, and takes control characters out of them.
func (f FrontEnd) Clean() FrontEnd {
	for _, text := range []*string{&f.Name, &f.Door, &f.Host} {
		*text = strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || ChangesDirection(r) {
				return -1
			}
			return r
		}, Clip(*text))
	}
	if f.Name == "" {
		f.Name = "front end"
	}
	return f
}

// Commanded is the body of KindCommand: a command that was accepted, with its number. Its effects follow.
type Commanded struct {
	Front   int       `json:"front"` // the number of the front end
	Name    string    `json:"name"`  // and its name
	ID      RequestID `json:"request"`
	Command string    `json:"line"`          // the word and its main arguments, for people
	Set     string    `json:"set,omitempty"` // as it was given; "" is all ranks
}

// PointsChange is the body of KindPoints: breakpoints of all kinds have changed on the ranks of the event.
type PointsChange struct {
	Change  string `json:"change"`            // "added", "changed" or "removed"
	Numbers []int  `json:"numbers,omitempty"` // of the breakpoints; none: all of the ranks
	// Breakpoint describes one that was added.
	Breakpoint *BreakpointInfo `json:"breakpoint,omitempty"`
	// Front, Name and ID tell who has done it, and by which request; 0: it was reached and so removed or disabled.
	Front int       `json:"front,omitempty"`
	Name  string    `json:"name,omitempty"`
	ID    RequestID `json:"request,omitempty"`
}

// Gap is the body of KindGap: events were not kept. A snapshot of the states follows it.
type Gap struct {
	Missed   uint64 `json:"missed"`             // number of events
	Snapshot int    `json:"snapshot,omitempty"` // number of events of the snapshot
}

// Permission is how much a command may do.
type Permission uint8

// The permissions; each includes those before it.
const (
	// Look changes nothing that lasts. Ranks may be stopped for an instant.
	Look Permission = iota
	// Steer resumes, stops and ends ranks, and makes breakpoints.
	Steer
	// Change alters the program, its memory or gdb, or gives gdb a line that may do anything.
	Change
)

// permissions are the words for the permissions. It is read only.
var permissions = [...]string{Look: "look", Steer: "steer", Change: "change"}

// String returns the word for a permission.
func (p Permission) String() string { return permissions[p] }

// ParsePermission reads the word for a permission.
func ParsePermission(word string) (p Permission, ok bool) {
	i := slices.Index(permissions[:], word)
	return Permission(max(i, 0)), i >= 0
}

// PermissionFor returns what a command with its arguments requires. Expressions may call functions of the program in
// a look, too: front ends that must not let them have gdb refuse that (may-call-functions).
func PermissionFor(c CommandInfo, a Args) Permission {
	switch {
	case c.Name == "interrupt" || c.Name == "stage":
		return Steer
	case c.Alters, c.Takes("file"):
		return Change
	case c.Resumes, c.Ends, c.Need == NeedNew, c.Effect != Shows, c.Name == "quit":
		return Steer
	}
	if applied, ok := LookupCommand(a.Apply); ok && c.Takes("apply") && !applied.Takes("apply") {
		return PermissionFor(applied, a)
	}
	return Look
}

// Summary returns the word of a command with its main arguments, for people: "break work.c:31 if n > 3".
func Summary(command string, a Args) string {
	words := []string{command}
	for _, n := range a.Breakpoints {
		words = append(words, strconv.Itoa(n))
	}
	for _, text := range []string{a.Location, a.Expr, a.Text, a.Event, a.Signal, a.Name, a.File} {
		if text != "" {
			words = append(words, text)
		}
	}
	if a.Condition != "" {
		words = append(words, "if", a.Condition)
	}
	if a.Count != 0 {
		words = append(words, strconv.Itoa(a.Count))
	}
	return Clip(strings.Join(words, " "))
}
