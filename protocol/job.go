// Jobs, and the routing table.

package protocol

import "sdm/protocol/rank"

// Job is the argument of the command "launch": the program that every rank runs.
// Arguments, paths and environment reach the rank byte for byte. JSON cannot
// represent text that is not UTF-8, so such text is refused before it is sent.
type Job struct {
	Program string   `json:"program"`
	Args    []string `json:"args,omitempty"`
	Cwd     string   `json:"cwd,omitempty"` // "" is the server's own
	// Env are directives in the order given; see EnvDirective.
	Env    []EnvDirective `json:"env,omitempty"`
	StopAt string         `json:"stop_at,omitempty"` // "main" (default), "entry", "none" or a location
	// Stdin are the ranks that receive the session's standard input; the others get
	// end of file.
	Stdin rank.Set `json:"stdin"`
	// TTY gives each rank a pseudo-terminal of its own instead of pipes.
	TTY bool `json:"tty,omitempty"`
	// Size is the number of ranks of the job, for SDM_SIZE; 0 leaves that to the
	// variables of the starter.
	Size int `json:"size,omitempty"`
	// Apps are the programs of a job with several. The fields above apply to what
	// an App does not set, and to ranks that no App contains.
	Apps []App `json:"apps,omitempty"`
}

// GivenProgram, as Job.Program, is the program that the servers were given after "--".
const GivenProgram = "-"

// App is one of several programs of a job.
type App struct {
	Ranks   rank.Set `json:"ranks"`
	Program string   `json:"program"`
	Args    []string `json:"args,omitempty"`
	Cwd     string   `json:"cwd,omitempty"` // "" is the job's
	// Env are directives that are applied after the job's.
	Env []EnvDirective `json:"env,omitempty"`
}

// For returns the job for one rank, without Apps.
func (j Job) For(r rank.ID) Job {
	apps := j.Apps
	j.Apps = nil
	for _, a := range apps {
		if !a.Ranks.Contains(r) {
			continue
		}
		j.Program, j.Args = a.Program, a.Args
		if a.Cwd != "" {
			j.Cwd = a.Cwd
		}
		j.Env = append(append([]EnvDirective(nil), j.Env...), a.Env...)
		break
	}
	return j
}

// EnvDirective changes one variable in the environment of the ranks only.
// Directives are applied in order.
type EnvDirective struct {
	Op    string `json:"op"` // "set", "add" (unless present), "unset", "prepend", "append"
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
	Sep   string `json:"sep,omitempty"` // for prepend and append; "" is ":"
}

// Route is the location of one server: a line of the routing table that Init
// carries down the tree (as the original's routing file: rank, host, port).
type Route struct {
	Server ServerID `json:"server"`
	Host   string   `json:"host"`
	// Addrs are the addresses to dial, "ip:port", best first.
	Addrs []string `json:"addrs,omitempty"`
	// Ports is the number of ports to try from the given one upwards, because a
	// server uses the next one if its port is taken. 0 is 1.
	Ports int `json:"ports,omitempty"`
	// Listening: the port was open when the table was made, so a refused connection
	// means that the server has ended.
	Listening bool     `json:"listening,omitempty"`
	Ranks     rank.Set `json:"ranks"`
}

// RouteTable is the routing table of the whole tree or of one subtree.
type RouteTable struct {
	Shape  string  `json:"shape"` // "binomial", "flat" or a number K
	Size   int     `json:"size"`  // servers in the whole session
	Routes []Route `json:"routes"`
	// Heartbeat is the interval at which a parent sends its children a Ping, and
	// Silence the time without an answer after which it gives a child up; both in
	// milliseconds, 0 is never. The root decides for the whole tree.
	Heartbeat int `json:"heartbeat_ms,omitempty"`
	Silence   int `json:"silence_ms,omitempty"`
}
