import { t } from "../strings";
import type { ConnectorInfo } from "../wire/types";
import { CopyButton } from "./CopyButton";

/** How to get a connector: the command to copy, and where to read about it. */
export function Install({ connector }: { connector: ConnectorInfo }) {
  return (
    <div className="install">
      <code>{connector.installCommand}</code>
      <CopyButton text={connector.installCommand} label={t.session.copyInstall} />
      <a href={connector.docsUrl} target="_blank" rel="noopener noreferrer">
        {t.session.docs}
      </a>
    </div>
  );
}
