// What may be asked before there is a rank.

package probe

import "sdm/backend/probe/internal/expression"

// CheckExpression returns why a text is no expression whose value a sample can compare; nil: it is one.
func CheckExpression(text string) error {
	_, err := expression.Parse(text)
	return err
}
