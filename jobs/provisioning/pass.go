package provisioning

import (
	"context"
	"io"

	"confab/jobs/provider"
	"confab/storage"
)

// Pass makes a call of a client of the provider with the token of an account.
func (a *Accounts) Pass(ctx context.Context, account int64, call provider.PassedCall) (provider.Answer, error) {
	c, err := a.credentials(ctx, account)
	if err != nil {
		return provider.Answer{}, err
	}
	answer, err := a.provider.Pass(ctx, c.token, call)
	return answer, a.recordRefusal(ctx, account, err, true)
}

// UploadMedia uploads a file that a client of the provider sends, and returns its id.
func (a *Accounts) UploadMedia(ctx context.Context, account int64, f provider.File) (id string, answer provider.Answer, err error) {
	c, err := a.credentials(ctx, account)
	if err != nil {
		return "", answer, err
	}
	id, answer, err = a.provider.PassMedia(ctx, c.token, storage.OrEmpty(c.PhoneNumberID), f)
	return id, answer, a.recordRefusal(ctx, account, err, true)
}

// DownloadMedia writes a file of at most limit bytes to w, which a client of the provider asks for
// by the provider's id.
func (a *Accounts) DownloadMedia(ctx context.Context, account int64, id string, limit int64, w io.Writer) error {
	c, err := a.credentials(ctx, account)
	if err != nil {
		return err
	}
	_, err = a.provider.FetchMedia(ctx, c.token, id, storage.OrEmpty(c.PhoneNumberID), limit, w)
	return a.recordRefusal(ctx, account, err, true)
}
