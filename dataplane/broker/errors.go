package broker

import (
	"errors"
	"fmt"
)

// ErrConfig marks a Config that cannot be used; the text names the setting.
var ErrConfig = errors.New("broker: invalid configuration")

func configError(setting, what string) error {
	return fmt.Errorf("%w: %s %s", ErrConfig, setting, what)
}
