// Reverse execution.

package debugger

import (
	"strconv"
	"strings"

	"sdm/backend/gdb/request"
	"sdm/protocol"
)

// backwards executes reverse-next and the like.
func (rn *runs) backwards(q *request.Request) {
	switch {
	case !rn.record.Wanted:
		rn.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: "nothing has been recorded", Hint: "start with --reverse, as in sdm run --reverse"})
		return
	case !rn.record.begun:
		rn.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: "the rank is not recorded any more", Hint: "gdb record full records from here on"})
		return
	}
	if q.Name == "reverse-continue" {
		rn.resume(q, nil, "-exec-continue", "--reverse", "--thread-group", rn.threadGroup)
		rn.run.back = true
		return
	}
	args := []string{"--reverse"}
	if isStep(q.Name) {
		args = append(args, strconv.Itoa(max(q.Args.Count, 1)))
	}
	rn.resumeOne(q, "-exec-"+backwardsBy[q.Name], args...)
	rn.run.back, rn.run.address = true, strings.HasSuffix(q.Name, "i")
}

// backwardsBy are the commands of GDB/MI, which take --reverse.
var backwardsBy = map[string]string{
	"reverse-next": "next", "reverse-step": "step", "reverse-finish": "finish",
	"reverse-nexti": "next-instruction", "reverse-stepi": "step-instruction",
}
