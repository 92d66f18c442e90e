import { askToTrust, describeTrust } from '../../context/ask-trust.ts'
import { EXIT } from '../../context/context.ts'
import { defineProjectCommand } from '../../context/command.ts'
import { toggle } from '../../context/flags.ts'

export const trust = defineProjectCommand({
  brief: 'Agree to what came with a repository: settings, commands, journals',
  about:
    'A clone can bring settings, verify commands, profiles, workflow templates and journals. Stint uses none of them until you agree on this machine. It shows each value and asks; a changed value is asked about again.',
  usage: [
    ['', 'show what needs your agreement, and ask'],
    ['--yes', 'agree without being asked, in a script'],
    ['--remove', 'take the agreement back'],
  ],
  flags: {
    yes: toggle('Agree without being asked'),
    remove: toggle('Take the agreement back'),
  },
  async run({ project, output, print, exit, context }, { yes = false, remove = false }) {
    if (remove) {
      const isRemoved = await project.trust.withdraw()
      print({ root: project.root, isRemoved }, () =>
        isRemoved ? `No longer trusted: ${project.root}` : `${project.root} was not trusted.`,
      )
      return
    }
    const review = await project.trust.review()
    const isAgreed =
      review.isAgreed || yes || (context.canAsk && (await askToTrust(review, output)))
    const after = isAgreed && !review.isAgreed ? await project.trust.grant(review) : review
    print(after, () => describeTrust(after, output))
    if (!after.isAgreed) exit(EXIT.failure)
  },
})
