// Puts our servers into a starter's command line by a template (--starter-args).

package job

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"sdm/cmd/internal/servers"
	"sdm/protocol/shellwords"
)

// starterTemplates maps names that --starter-args accepts in place of a template to the arguments
// by which known starters start a tool's daemons, one on each node.
var starterTemplates = map[string]string{
	"openmpi": "--mca orte_debugger_test_daemon {daemon}", // it passes no arguments to the daemon
}

// readTemplate returns the words of a template or of the name of one.
func readTemplate(text string) ([]shellwords.Word, error) {
	line := text
	if known, ok := starterTemplates[text]; ok {
		line = known
	}
	words, err := shellwords.Split(line)
	if err == nil && len(words) > 0 && !slices.ContainsFunc(words,
		func(w shellwords.Word) bool { return strings.Contains(w.Text, "{daemon}") }) {
		err = errors.New("it has no {daemon} (e.g. '--tool {daemon} --tool-arguments \"{args}\"', or openmpi)")
	}
	if err != nil {
		return nil, fmt.Errorf("--starter-args %s: %w", text, err)
	}
	return words, nil
}

// CheckTemplate returns what is wrong with the value of --starter-args.
func CheckTemplate(text string) error {
	_, err := readTemplate(text)
	return err
}

// inject replaces {daemon} and {args} in a template. {args} as an unquoted word of its own becomes
// one word for each argument; elsewhere the arguments are joined by blanks.
func inject(template []shellwords.Word, daemon string, args []string) []string {
	var words []string
	fill := strings.NewReplacer("{daemon}", daemon, "{args}", strings.Join(args, " "))
	for _, w := range template {
		if w.Text == "{args}" && !w.Quoted {
			words = append(words, args...)
			continue
		}
		words = append(words, fill.Replace(w.Text))
	}
	return words
}

// fits reports whether the arguments of a daemon fit into a template: the template has a place for
// them, and none of them would be split there.
func fits(template []shellwords.Word, args []string) bool {
	place := false
	for _, w := range template {
		if !strings.Contains(w.Text, "{args}") {
			continue
		}
		place = true
		if alone := w.Text == "{args}" && !w.Quoted; !alone && slices.ContainsFunc(args, needsQuotes) {
			return false
		}
	}
	return place
}

// needsQuotes reports whether splitting at blanks would change an argument.
func needsQuotes(arg string) bool { return arg == "" || strings.ContainsAny(arg, " \t\n'\"\\$`") }

// withServers returns the starter's command line with the arguments that start our servers. text is
// the value of --starter-args. Arguments that do not fit into the template go into a script.
func withServers(r *servers.Rendezvous, argv []string, text string, log *slog.Logger) ([]string, error) {
	template, err := readTemplate(text)
	if err != nil {
		return nil, err
	}
	line, err := r.DaemonLine()
	if err != nil {
		return nil, err
	}
	daemon, args := line[0], line[1:]
	if !fits(template, args) {
		if daemon, err = r.Script(line); err != nil {
			return nil, err
		}
		args = nil
	}
	whole := slices.Concat(argv[:1], inject(template, daemon, args), argv[1:])
	log.Info("the starter is to start our servers", "line", whole, "by", filepath.Base(daemon))
	return whole, nil
}
