// The arguments of stacks.

package language

import (
	"strings"
	"time"
)

// These are the formats in which stacks can be exported.
const (
	Folded = "folded" // one line for each stack, for flame graphs
	DOT    = "dot"    // for Graphviz
	JSON   = "json"
	// HangFile is a file for sdm open.
	HangFile = "hang-file"
	// Waits begins the formats of what ranks wait for: "waits", "waitsdot", "waitsjson".
	Waits = "waits"
)

// Samples that waits takes of each rank unless it is told otherwise.
const (
	WaitSamples = 4
	WaitEvery   = "150ms"
)

// parseWaits reads "[--explain] [--samples N] [--every DURATION] [--dot|--json|--hang-file] [> FILE]". Without
// samples there are four.
func parseWaits(c *Command) *Mistake {
	if m := parseStacks(c); m != nil && m.Text != needsSamples {
		m.Text, m.Hint = strings.Replace(m.Text, "stacks", Waits, 1), strings.Replace(m.Hint, "stacks", Waits, 1)
		if c.File != "" && c.Export == "" {
			m.Hint = "waits --dot > FILE, or --json, --hang-file"
		}
		return m
	}
	if c.Export == Folded || c.Args.By != "" || c.Args.AllThreads || c.Args.Children {
		return &Mistake{Text: "waits: it takes --explain, --samples, --every, --dot, --json and --hang-file"}
	}
	c.Export = Waits + c.Export
	if c.Args.Samples == 0 {
		c.Args.Samples = WaitSamples
	}
	if c.Args.Every == "" {
		c.Args.Every = WaitEvery
	}
	return nil
}

const needsSamples = "stacks: --every needs --samples"

// parseStacks reads "[function|line|address] [--all-threads] [--children] [--explain] [--samples N [--every DURATION]]
// [--folded|--dot|--json|--hang-file] [> FILE]".
func parseStacks(c *Command) *Mistake {
	rest := c.Rest
	if before, file, ok := strings.Cut(rest, ">"); ok {
		if rest, c.File = before, strings.Trim(file, blanks); c.File == "" {
			return &Mistake{Text: "stacks: into which file?"}
		}
	}
	words := strings.Fields(rest)
	for i := 0; i < len(words); i++ {
		word, value, inWord := strings.Cut(words[i], "=")
		switch word {
		case "by":
			continue
		case "--all-threads":
			c.Args.AllThreads = true
			continue
		case "--children":
			c.Args.Children = true
			continue
		case "--explain":
			c.Args.Explain = true
			continue
		case "--folded", "--dot", "--json", "--hang-file":
			c.Export = word[2:]
			continue
		case "--samples", "--every":
			if !inWord && i+1 < len(words) {
				i++
				value = words[i]
			}
			if m := sampleOption(c, word, value); m != nil {
				return m
			}
			continue
		}
		if m := granularity(c, words[i]); m != nil {
			return m
		}
	}
	switch {
	case c.File != "" && c.Export == "":
		return &Mistake{Text: "stacks: in which form?", Hint: "stacks --folded > FILE, or --dot, --json, --hang-file"}
	case c.File == "" && c.Export == HangFile:
		return &Mistake{Text: "stacks: into which file?", Hint: "stacks --hang-file > FILE"}
	case c.Args.Every != "" && c.Args.Samples == 0:
		return &Mistake{Text: needsSamples, Hint: "stacks --samples 10 --every 1s"}
	}
	return nil
}

func granularity(c *Command, word string) *Mistake {
	for _, by := range []string{"function", "line", "address"} {
		if strings.HasPrefix(by, word) && c.Args.By == "" {
			c.Args.By = by
			return nil
		}
	}
	return &Mistake{Text: "stacks: " + quote(word) + " is not a granularity"}
}

// maxSamples is the limit of the master.
const maxSamples = 1000

func sampleOption(c *Command, name, value string) *Mistake {
	if name == "--every" {
		d, m := parseWaitTime(value)
		if m != nil || d <= 0 || d > time.Hour {
			return &Mistake{Text: "stacks: " + quote(value) + " cannot be the time between samples", Hint: "500ms, 1s"}
		}
		c.Args.Every = d.String()
		return nil
	}
	n, m := number(c, value, 1)
	if m == nil && n > maxSamples {
		m = &Mistake{Text: "stacks: more than 1000 samples"}
	}
	c.Args.Samples = n
	return m
}
