// The table of tools.

package mcp

import (
	"context"
	"fmt"
	"strings"

	"sdm/protocol"
)

// tool is a tool: a row of the table.
type tool struct {
	name     string
	what     string // for the model: what it answers, what it disturbs, which tool is next
	needs    protocol.Permission
	destroys bool
	params   string // names of parameters; those with ! in front are required
	handle   func(d *desk, ctx context.Context, a args) (string, error)
}

// args are the arguments of all tools.
type args struct {
	Session string            `json:"session"`
	Ranks   string            `json:"ranks"`
	ID      string            `json:"id"`
	Of      string            `json:"of"`
	Run     []string          `json:"run"`
	Attach  string            `json:"attach"`
	Core    []string          `json:"core"`
	NP      int               `json:"np"`
	StopAt  string            `json:"stop_at"`
	Cwd     string            `json:"cwd"`
	Env     map[string]string `json:"env"`
	By      string            `json:"by"`
	Samples int               `json:"samples"`
	Every   string            `json:"every"`
	Expr    []string          `json:"expr"`
	How     string            `json:"how"`
	Thread  int               `json:"thread"`
	Frame   *int              `json:"frame"`
	At      string            `json:"at"`
	Watch   string            `json:"watch"`
	If      string            `json:"if"`
	Log     []string          `json:"log"`
	Delete  []int             `json:"delete"`
	Until   string            `json:"until"`
	Count   int               `json:"count"`
	Wait    float64           `json:"wait"`
	For     string            `json:"for"`
	Request uint64            `json:"request"`
	Cancel  bool              `json:"cancel"`
	Line    string            `json:"line"`
	Cursor  uint64            `json:"cursor"`
	Budget  int               `json:"budget"`
}

// schemas are the schemas of parameters, by name. It is read only.
var schemas = map[string]string{
	"session": `"string","description":"such as sdm-1; default the last used"`,
	"ranks":   `"string","description":"set: 0-3,8, @stopped, @fn:NAME; default all"`,
	"id":      `"string","description":"a new word for each intent; repeated, nothing is done twice"`,
	"of":      `"string","description":"PID of mpirun, slurm:JOBID, pids:PID,..., a hang file, or a session"`,
	"run":     `"array","items":{"type":"string"},"description":"command line: mpirun -n 4 ./app, or a program with np"`,
	"attach":  `"string","description":"PID of mpirun, slurm:JOBID, pids:PID,..."`,
	"core":    `"array","items":{"type":"string"},"description":"program, then core files"`,
	"np":      `"integer"`,
	"stop_at": `"string","description":"main, entry, none or a location"`,
	"cwd":     `"string"`,
	"env":     `"object","additionalProperties":{"type":"string"}`,
	"by":      `"string","enum":["function","line","address"]`,
	"samples": `"integer","description":"of running ranks; shows who has not moved"`,
	"every":   `"string","description":"between them: 500ms"`,
	"expr":    `"array","items":{"type":"string"}`,
	"how":     `"string"`,
	"thread":  `"integer"`,
	"frame":   `"integer","description":"level, 0 is innermost"`,
	"at":      `"string","description":"FILE:LINE or FUNCTION"`,
	"watch":   `"string","description":"expression: stop when it changes"`,
	"if":      `"string","description":"condition"`,
	"log":     `"array","items":{"type":"string"},"description":"expressions to report at the place, without a stop"`,
	"delete":  `"array","items":{"type":"integer"},"description":"numbers of breakpoints"`,
	"until":   `"string","description":"location, for how=until"`,
	"count":   `"integer"`,
	"wait":    `"number","description":"seconds, at most 25"`,
	"for":     `"string","enum":["all","any","output"],"description":"all or any of the ranks stand, or there is output"`,
	"request": `"integer","description":"an unfinished answer to go on with"`,
	"cancel":  `"boolean","description":"give the request up"`,
	"line":    `"string","description":"one line of the console, as in: [0-3] info registers"`,
	"cursor":  `"integer","description":"of an earlier answer: tell what came after it"`,
	"budget":  `"integer","description":"bytes: 8192, at most 40000"`,
}

// hows are the values of how, by tool. It is read only.
var hows = map[string]string{
	"sdm_ask":    `["value","diff","stat","locals","args","list"]`,
	"sdm_resume": `["continue","next","step","finish","until","interrupt"]`,
	"sdm_end":    `["leave","detach","kill"]`,
}

// tools is the table. It is read only.
var tools = []tool{
	{name: "sdm_why", needs: protocol.Look, params: "!of samples every",
		what:   "Why does a job hang, or why has it crashed? One page: verdict (who waits for whom), merged stacks, the odd ranks, ends, values, last output, what to try next. Ranks stop for a millisecond and run on; no gdb. Call it first.",
		handle: (*desk).why},
	{name: "sdm_sessions", needs: protocol.Look, params: "",
		what:   "The user's live sessions (name, host, program, states, who is in), and the user's jobs on this host. Then sdm_why or sdm_stacks.",
		handle: (*desk).sessions},
	{name: "sdm_start", needs: protocol.Steer, params: "!id run attach core np stop_at env cwd ranks",
		what:   "Begin a session under gdb: run a program or starter (it stops at main or in MPI_Init), attach to a job (STOPS its ranks), or open core files. One of run, attach, core. Answers the session and where ranks stand; if not done yet, repeat it with the same id.",
		handle: (*desk).start},
	{name: "sdm_stacks", needs: protocol.Look, params: "session ranks by samples every budget",
		what:   "One tree of the stacks of all threads, with the verdict in front. Running ranks are stopped for an instant and run on. Then sdm_ask at the odd ranks.",
		handle: (*desk).stacks},
	{name: "sdm_ask", needs: protocol.Look, params: "session ranks expr how thread frame budget",
		what:   "Values of ranks that stand, equal ones folded: value, diff (who differs from the majority), stat (mean, extremes and their ranks), locals, args, list (source). Cannot change the program: calls and assignments are refused.",
		handle: (*desk).ask},
	{name: "sdm_break", needs: protocol.Steer, params: "session ranks at watch if log delete budget",
		what:   "Set a breakpoint (at), a watchpoint (watch) or a log point (at and log), or delete some; without any of these only list. Answers the table. Then sdm_resume.",
		handle: (*desk).breaks},
	{name: "sdm_resume", needs: protocol.Steer, params: "session !id ranks !how until count wait budget",
		what:   "Continue, step or interrupt ranks and wait until they stand. Answers who stopped where and who still runs; then sdm_wait or sdm_ask.",
		handle: (*desk).resume},
	{name: "sdm_wait", needs: protocol.Look, params: "session ranks for wait request cancel cursor budget",
		what:   "Wait, up to 25 s a call, until ranks stand or write something, or for an unfinished answer. Answers states and output since the cursor.",
		handle: (*desk).wait},
	{name: "sdm_command", needs: protocol.Look, destroys: true, params: "session !line budget",
		what:   "Any command of the console, after a rank set in brackets; words are gdb's. What changes the program or the host needs sdm mcp --allow change. Prefer the other tools.",
		handle: (*desk).command},
	{name: "sdm_end", needs: protocol.Steer, destroys: true, params: "session !how",
		what:   "leave: part, the session goes on 15 minutes. detach: let attached ranks run on and end the session. kill: end the session and the ranks that it has started.",
		handle: (*desk).end},
}

// toolOf returns the row of a tool.
func toolOf(name string) (tool, bool) {
	for _, t := range tools {
		if t.name == name {
			return t, true
		}
	}
	return tool{}, false
}

// schema returns the JSON schema of the arguments.
func (t tool) schema() string {
	var all, required []string
	for _, p := range strings.Fields(t.params) {
		name, must := strings.CutPrefix(p, "!")
		if must {
			required = append(required, `"`+name+`"`)
		}
		s := schemas[name]
		if name == "how" {
			s += `,"enum":` + hows[t.name]
		}
		all = append(all, fmt.Sprintf(`"%s":{"type":%s}`, name, s))
	}
	s := `{"type":"object","properties":{` + strings.Join(all, ",") + `},"additionalProperties":false`
	if required != nil {
		s += `,"required":[` + strings.Join(required, ",") + `]`
	}
	return s + "}"
}
