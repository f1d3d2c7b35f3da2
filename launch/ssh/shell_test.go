package ssh

import (
	"strings"
	"testing"
)

func TestArgv(t *testing.T) {
	for shell, want := range map[string]string{
		"rsh -x":                                "rsh|-x|h|exec /bin/sh -c 'a b'",
		"kubectl":                               "kubectl|exec|-i|h|--|/bin/sh|-c|a b",
		"/opt/kubectl exec -i -n ns -c main":    "/opt/kubectl|exec|-i|-n|ns|-c|main|h|--|/bin/sh|-c|a b",
		"kubectl --context x exec --stdin=true": "kubectl|--context|x|exec|--stdin=true|h|--|/bin/sh|-c|a b",
		"oc exec":                               "oc|exec|-i|h|--|/bin/sh|-c|a b",
	} {
		words := strings.Fields(shell)
		if got := strings.Join(Argv(words, "h", "a b"), "|"); got != want || strings.Join(words, " ") != shell {
			t.Errorf("%s: %s, want %s", shell, got, want)
		}
	}
}
