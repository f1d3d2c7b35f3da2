package protocol

import "sdm/protocol/rank"

// Job is the body of the command "launch": the program that every rank runs.
// Arguments, paths and environment arrive at the rank byte for byte; text that
// is not UTF-8 cannot stand in JSON and is refused before it is sent.
type Job struct {
	Program string   `json:"program"`
	Args    []string `json:"args,omitempty"`
	Cwd     string   `json:"cwd,omitempty"` // "" is the server's own
	// Env are directives in the order given; see EnvDirective.
	Env    []EnvDirective `json:"env,omitempty"`
	StopAt string         `json:"stop_at,omitempty"` // "main" (default), "entry", "none" or a location
	// Stdin are the ranks that are fed by the session's standard input; the
	// others find end of file.
	Stdin rank.Set `json:"stdin"`
	// TTY gives each rank a pseudo terminal of its own instead of pipes.
	TTY bool `json:"tty,omitempty"`
	// Size is the number of ranks of the job, for SDM_SIZE; 0 leaves it to the
	// starter's own variables.
	Size int `json:"size,omitempty"`
	// Apps are the programs of a job that has several; the fields above hold for
	// what they leave out, and for ranks that none of them has.
	Apps []App `json:"apps,omitempty"`
}

// App is one of several programs of a job.
type App struct {
	Ranks   rank.Set `json:"ranks"`
	Program string   `json:"program"`
	Args    []string `json:"args,omitempty"`
	Cwd     string   `json:"cwd,omitempty"` // "" is that of the job
	// Env are directives that follow those of the job.
	Env []EnvDirective `json:"env,omitempty"`
}

// For is the job as it is for one rank, without Apps.
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

// EnvDirective changes one variable of the ranks' environment, and nobody
// else's. Directives apply in order.
type EnvDirective struct {
	Op    string `json:"op"` // "set", "add" (unless present), "unset", "prepend", "append"
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
	Sep   string `json:"sep,omitempty"` // for prepend and append; "" is ":"
}

// Route tells where one server is: a line of the routing table that INIT
// carries down the tree (as the original's routing file: rank, host, port).
type Route struct {
	Server ServerID `json:"server"`
	Host   string   `json:"host"`
	// Addrs are the addresses to dial, "ip:port", best first.
	Addrs []string `json:"addrs,omitempty"`
	// Ports is how many ports from the given one upwards to try, because a
	// server takes the next one when its port is in use. 0 is 1.
	Ports int `json:"ports,omitempty"`
	// Listening tells that the port was open when the table was made: a refused
	// connection then means that the server has ended.
	Listening bool     `json:"listening,omitempty"`
	Ranks     rank.Set `json:"ranks"`
}

// RouteTable is the whole table, or the part of it for one subtree.
type RouteTable struct {
	Shape  string  `json:"shape"` // "binomial", "flat" or a number K
	Size   int     `json:"size"`  // servers in the whole session
	Routes []Route `json:"routes"`
	// Heartbeat is how often a parent asks its children for a sign of life, and
	// Silence how long it waits for one before it gives the child up; both in
	// milliseconds, 0 is never. The root decides for the whole tree.
	Heartbeat int `json:"heartbeat_ms,omitempty"`
	Silence   int `json:"silence_ms,omitempty"`
}
