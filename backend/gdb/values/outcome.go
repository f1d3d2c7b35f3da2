// Outcomes of assertions.

package values

import (
	"strings"

	"sdm/backend/gdb/request"
	"sdm/protocol"
	"sdm/protocol/pattern"
)

// addressIn matches an address in an error, which would make the outcomes of ranks differ.
var addressIn = pattern.New(`0x[1-9a-f][0-9a-f]*`)

// WithoutDenied returns gdb's error about protocol.Denied as one about the user's expression.
func WithoutDenied(message string) string { return strings.Replace(message, ") == 0'.", "'.", 1) }

// OutcomeOf returns the outcome of an assertion from gdb's answer to the evaluation of protocol.Denied.
func OutcomeOf(a request.Answer, value string) string {
	if a.Failed() {
		return addressIn.ReplaceAllString(a.Results.Str("msg"), "0x…")
	}
	return protocol.Outcome(value)
}
