// Types of DAP that go-dap lacks, or of which it leaves out what must be sent.

package dap

import (
	"encoding/json"

	"sdm/protocol/rank"
	"sdm/protocol/shellwords"
)

// continuedBody is the body of continued. Without allThreadsContinued all have.
type continuedBody struct {
	ThreadId            int  `json:"threadId"`
	AllThreadsContinued bool `json:"allThreadsContinued"`
}

// disconnectArguments are those of disconnect and terminate. Whether they say something matters.
type disconnectArguments struct {
	Restart           bool  `json:"restart"`
	TerminateDebuggee *bool `json:"terminateDebuggee"`
	SuspendDebuggee   bool  `json:"suspendDebuggee"`
}

// startArguments are those of launch and attach. Editors add their own, which are not read.
type startArguments struct {
	Program     string             `json:"program"`
	Args        []string           `json:"args"`
	Cwd         string             `json:"cwd"`
	Env         map[string]*string `json:"env"`
	NP          int                `json:"np"`
	Starter     Words              `json:"starter"`
	StopAt      string             `json:"stopAt"`
	StopOnEntry bool               `json:"stopOnEntry"`
	NoDebug     bool               `json:"noDebug"`
	Flags       []string           `json:"flags"`
	Fetch       bool               `json:"fetchSources"`
	Sim         bool               `json:"sim"`
	Console     string             `json:"console"`
	Terminal    []string           `json:"terminal"`
	Ranks       rank.Set           `json:"ranks"`

	Attach   Words   `json:"attach"`
	Session  *string `json:"session"`
	Core     Words   `json:"core"`
	HangFile string  `json:"hangFile"`
}

// Words are the words of a command line: one line, whose words are separated by blanks and may be quoted, or a list.
type Words []string

// UnmarshalJSON reads a string, a number, or a list of strings.
func (w *Words) UnmarshalJSON(b []byte) error {
	var line string
	var list []string
	var number json.Number
	switch {
	case json.Unmarshal(b, &line) == nil:
		words, err := shellwords.Split(line)
		*w = nil
		for _, word := range words {
			*w = append(*w, word.Text)
		}
		return err
	case json.Unmarshal(b, &number) == nil:
		*w = Words{number.String()}
		return nil
	}
	err := json.Unmarshal(b, &list)
	*w = list
	return err
}
