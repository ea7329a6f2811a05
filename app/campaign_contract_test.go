package app_test

// Section 12 of the contract, sentence by sentence, and the tests that hold it. Those
// without a package are here in app.
//
//	Later sends       bounds, receipts, null, filter           app/api TestAMessageCanBeSentLaterAndCancelled
//	                  checked again, times, order              jobs TestAMessageIsSentWhenItsTimeComes, TestALaterSendIsCheckedAgain
//	                  cancelled or sent, never both            jobs TestACancelledMessageIsNotSent, TestAMessageIsEitherCancelledOrSent
//	                  in the console                           TestAMessageIsSentLaterAndFoundInTheInbox
//	Broadcasts        body, params, bounds                     app/api TestABroadcastIsRefusedWithTheFieldThatIsWrong
//	                  audiences, duplicates                    app/api TestABroadcastIsMadeOfEachAudience, jobs TestACopiedRecipientListIsCountedOnce
//	                  files, bad numbers, no column, no lines  app/api TestRecipientsComeInAFile, FuzzRecipientFiles
//	Making            in steps, broken off, half made          jobs TestRecipientsThatCannotBeReadLeaveNothing, TestABroadcastThatWasHalfMadeIsDeleted
//	                  a label as it stood                      jobs TestALabelsAudienceIsAsItStood, TestALabelThatIsDeletedMeanwhileIsStillTheAudience
//	Fields            one pass, missing, forbidden             app/api FuzzFields, jobs TestWhoMayNotBeSentToIsSkipped
//	Running           each once, counts, events                jobs TestABroadcastGoesToEachRecipientOnce
//	                  a second's worth ahead                   jobs TestNoMoreThanASecondsWorthIsMadeAhead
//	                  overtaken by direct sends                jobs TestADirectSendOvertakesABroadcast, TestABroadcastYieldsToDirectSends, TestADirectSendIsSentInTheMidstOfABroadcast
//	                  whatever is killed or repeated           TestABroadcastIsSentOnceWhateverIsKilled, TestABroadcastGoesOnAfterADiskThatWasFull, jobs TestABroadcastGoesOnAfterARestart
//	                  unknown outcomes                         jobs TestACallWithAnUnknownOutcomeIsNotRepeatedBlindly
//	                  opt-out and consent at each send         jobs TestAnOptOutCountsAtEachSend
//	                  what concerns all, cooldown              jobs TestWhatConcernsAllPausesABroadcast, TestACooldownEndsByItself
//	                  a pause holds retries too                jobs TestAPauseHoldsRetriesToo
//	Moves             from where, to where, 409                app/api TestABroadcastMovesOnlyFromTheRightStates
//	                  cancel skips, schedule                   jobs TestACancelledBroadcastSkipsWhoeverWaits, TestAScheduledBroadcastWaitsForItsTime
//	                  callbacks after the end                  jobs TestCallbacksGoOnMovingTheCounts
//	What stays        deleted and merged contacts, restore     jobs TestADeletedContactIsBlankedInItsBroadcasts, TestAMergedContactKeepsItsRecipients, TestARestoredDatabaseSendsNothingLateByItself
//	Quick replies     shortcut, text, teams                    app/cli TestScripts
//	Search            words, prefix, phrase, accents, filters  storage TestWhatATextSays, TestFileNamesAndFiltersAreSearched, app/api TestMessagesAreSearched
//	                  all pages                                storage TestLongPagesOfASearchLeaveNothingOut
//	                  any query is data                        storage FuzzSearchWords, app/api FuzzMessageSearches
//	                  gone at once, tenants, rebuilt           storage TestWhatAMessageSaidIsNotFoundOnceItIsGone, TestNobodyFindsWhatOthersWrote, TestADamagedOrMissingIndexIsMadeAnew
//	                  behind by two seconds at most            storage TestAnIndexFollowsByItself
//	Contacts out      columns, metadata, guarded cells         app/api TestContactsAreExported, TestAnExportWithManyKeysHasOneColumnForThem, jobs/contactsheet FuzzGuard
//	Contacts in       every rule, dry run, repeats             app/api TestEveryRuleOfAnImport, TestADryRunOnlyCounts, TestARepeatedImportAnswersAsItDid, FuzzContactImports
//	                  and back without a change                app/api TestAnExportComesBackWithoutAChange
//	                  after a crash, on a full disk, large     app/api TestAnImportGoesOnWhereItWas, TestAnImportGoesOnAfterADiskThatWasFull, TestALargeFileOfContactsIsImported
//	                  by whom                                  app/api TestOnlyAdminsImportAndExport
//	Command line      broadcasts, contacts, quick-replies      app/cli TestScripts
//	Console           three steps, moves, import, newcomer     TestABroadcastIsMadeInThreeStepsAndWatched, TestABroadcastIsPausedResumedAndCancelled, TestContactsAreImportedAfterATrial, TestANewcomerBroadcastsToASpreadsheet

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTheTestsOfTheContractAreThere holds the maps above and in console_contract_test.go to
// the tests that there are.
func TestTheTestsOfTheContractAreThere(t *testing.T) {
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	there := make(map[string]bool)
	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range declared.FindAllSubmatch(text, -1) {
			there[string(found[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	named := regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w+`)
	for _, file := range []string{"campaign_contract_test.go", "console_contract_test.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(line, "//\t") {
				continue
			}
			for _, name := range named.FindAllString(line, -1) {
				if !there[name] {
					t.Errorf("%s names %s, which is no test", file, name)
				}
			}
		}
	}
}
