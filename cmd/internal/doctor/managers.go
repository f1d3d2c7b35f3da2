// Checks of Flux and PALS.

package doctor

import (
	"context"
	"os"
	"strconv"
	"strings"

	"sdm/launch/flux"
)

// onStandIn is added to findings about resource managers with which sdm was not tried. It was tried
// with programs that stand in for their commands.
const onStandIn = "; sdm was tried with a stand-in for it only"

// flux checks whether there is an instance of Flux, and whether it lets users start servers beside
// their jobs.
func (m Machine) flux(ctx context.Context) []Finding {
	path, err := m.find("flux")
	if err != nil {
		return []Finding{{Check: "Flux", Grade: Absent, Found: "none"}}
	}
	f := Finding{Check: "Flux", Grade: Good}
	text, err := m.ask(ctx, path, "version")
	v, unknown := flux.ReadVersion(text)
	if err != nil || unknown != nil {
		f.Grade, f.Found = Warning, path+" does not tell its version: "+firstLine(text)
		return []Finding{f}
	}
	f.Found = "release " + v.String()
	owner, err := m.ask(ctx, path, "getattr", "security.owner")
	own := strings.TrimSpace(owner) == strconv.Itoa(os.Getuid())
	switch {
	case err != nil:
		f.Grade, f.Found = Warning, f.Found+"; no instance answers: "+firstLine(owner)
		f.Hint = "sdm attach flux:JOBID works where flux jobs does: on a node of the system, or in flux alloc"
	case own:
		f.Found += ", an instance of your own"
	default:
		f.Found += ", the instance of the system"
	}
	if refused := v.Refusal(own); err == nil && refused != nil {
		f.Grade, f.Hint = Warning, refused.Error()
	}
	f.Found += "; sdm was tried with 0.88 by hand, its tests use a stand-in"
	return []Finding{f}
}

// pals checks whether PALS is there, and PBS, in whose jobs it starts ranks.
func (m Machine) pals(ctx context.Context) []Finding {
	path, err := m.find("palstat")
	if err != nil {
		return []Finding{{Check: "PALS", Grade: Absent, Found: "none"}}
	}
	f := Finding{Check: "PALS", Grade: Good, Found: path}
	if text, err := m.ask(ctx, path, "--version"); err == nil {
		f.Found = firstLine(text)
	}
	var missing []string
	for _, name := range []string{"palscmd", "palscp", "qstat"} {
		if _, err := m.find(name); err != nil {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		f.Grade, f.Hint = Warning, "not in PATH: "+strings.Join(missing, ", ")+" (is the module cray-pals loaded?)"
	}
	if job := m.lookup("PBS_JOBID"); job != "" {
		f.Found += "; inside job " + job + " of PBS"
	}
	f.Found += onStandIn
	return []Finding{f}
}
