// Frame filters of gdb's Python: backtrace and stacks do not apply them, since frames of all ranks must have the same
// levels and names to be one line.

package debugger

import (
	"fmt"
	"slices"
	"strings"

	"sdm/backend/gdb/request"
	"sdm/protocol"
	"sdm/protocol/pattern"
)

// definesFilters matches lines after which gdb may have frame filters.
var definesFilters = pattern.New(`^(?:so(?:u|ur|urc|urce)?|py(?:t|th|tho|thon)?|enable\s+frame-filter)\s`)

// enabledFilter matches a line of "info frame-filter" about a filter that gdb's own backtrace applies:
//
//	Priority  Enabled  Name
//	100       Yes      Eigen
var enabledFilter = pattern.New(`(?m)^\s+-?[0-9]+\s+Yes\s+(\S.*)$`)

// filters tells the user that there are frame filters.
type filters struct {
	*core
	told bool
}

// tellFilters tells the user once that there are frame filters. A gdb without Python has none, and refuses.
func (fi *filters) tellFilters() {
	if fi.told {
		return
	}
	k := fi.ask(request.Internal("info frame-filter"), func(a request.Answer) {
		names := filtersIn(a.Text)
		if a.Failed() || names == "" || fi.told || fi.State.IsOver() {
			return
		}
		fi.told = true
		fi.Event(protocol.KindNote, protocol.Note{Text: fmt.Sprintf("backtrace and stacks show frames without gdb's frame filters (%s); gdb backtrace applies them", names)})
	}, "-interpreter-exec", append(fi.here(), "console", "info frame-filter")...)
	k.Print = true
}

// tellFiltersOfArguments is called when gdb has the target.
func (fi *filters) tellFiltersOfArguments() {
	if fi.GDB.Customized {
		fi.tellFilters()
	}
}

// maxNames bounds the names of filters in a line, in bytes.
const maxNames = 100

// filtersIn returns the names of enabled filters, each once.
func filtersIn(text string) string {
	var names []string
	for _, found := range enabledFilter.FindAllStringSubmatch(text, -1) {
		if name := strings.TrimSpace(found[1]); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	all := strings.Join(names, ", ")
	if len(all) > maxNames {
		return strings.ToValidUTF8(all[:maxNames], "") + "..."
	}
	return all
}
