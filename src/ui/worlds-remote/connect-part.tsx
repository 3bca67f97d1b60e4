/** @file Where the server is and what it speaks, and what to do when the browser stands in between. */
import { useState } from 'preact/hooks';
import { dialectNames } from '../../envs/remote/agentgym/dialects';
import { visible } from '../text/visible';
import {
  address,
  chooseKind,
  connect,
  facts,
  formAddress,
  type Kind,
  kind,
  leave,
  relayCommand,
  waiting,
} from './state';

const kindNames: Readonly<Record<Kind, string>> = {
  openenv: 'OpenEnv',
  textcraft: 'AgentGym: TextCraft',
  alfworld: 'AgentGym: ALFWorld',
  webshop: 'AgentGym: WebShop',
  webarena: 'AgentGym: WebArena',
};
const kinds: readonly Kind[] = ['openenv', ...dialectNames];

export function ConnectPart() {
  const submit = (event: Event) => {
    event.preventDefault();
    void connect();
  };
  const connected = facts.value !== null;
  return (
    <form class="world-choice" onSubmit={submit}>
      <label>
        Kind of server
        <select value={kind.value} onChange={(event) => chooseKind(event.currentTarget.value as Kind)}>
          {kinds.map((name) => (
            <option key={name} value={name}>
              {kindNames[name]}
            </option>
          ))}
        </select>
      </label>
      <label class="remote-address">
        Address
        <input
          type="text"
          inputMode="url"
          value={address.value}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => {
            address.value = event.currentTarget.value;
          }}
        />
      </label>
      {kind.value === 'openenv' && (
        <label class="remote-address">
          A relay’s address for its form (optional)
          <input
            type="text"
            inputMode="url"
            value={formAddress.value}
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => {
              formAddress.value = event.currentTarget.value;
            }}
          />
        </label>
      )}
      <button type="submit" disabled={waiting.value !== null || address.value.trim() === ''}>
        {waiting.value === 'connect' ? 'Connecting…' : connected ? 'Connect again' : 'Connect'}
      </button>
      {(connected || waiting.value !== null) && (
        <button type="button" class="quiet" onClick={() => void leave()}>
          Leave
        </button>
      )}
    </form>
  );
}

/** Needed where a server runs but lets no page read its answers. */
export function RelayAdvice({ server }: { server: string }) {
  const [copied, setCopied] = useState<boolean | null>(null);
  const command = relayCommand(server, new URL(window.location.href));
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(command);
      setCopied(true);
    } catch {
      // No secure context, or not allowed: it can be marked and copied by hand.
      setCopied(false);
    }
  };
  return (
    <div class="remote-relay">
      <p>A relay beside the server lets this page in. In a terminal, in the folder of this program:</p>
      <pre>
        <code>{visible(command, 500)}</code>
      </pre>
      <button type="button" class="quiet" onClick={() => void copy()}>
        Copy the command
      </button>
      <span role="status">
        {copied === null ? '' : copied ? ' Copied.' : ' Not allowed here: mark it and copy it.'}
      </span>
    </div>
  );
}

/** Browsers guard the way from the internet to this machine. */
export function BrowserNote() {
  return (
    <details>
      <summary>If the browser does not let you through</summary>
      <p>
        A page from the internet needs your leave to reach a server on your own machine or network: Chromium asks once
        (“local network access”), and what was refused is changed in the settings of the site, beside its address.
        Safari reaches no http:// or ws:// address from an https:// page at all. A copy of this page served from your
        own machine needs no leave.
      </p>
    </details>
  );
}
