import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from './icon.tsx';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly wide?: boolean;
}

/**
 * The browser's own modal dialog: it holds the focus, closes on Escape and gives the focus back. It is closed by taking it
 * away and never by itself: the browser tells of its own closing only later, when it may have been asked for again.
 */
export function Dialog({ title, onClose, children, wide = false }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  const away = useRef(false);
  useLayoutEffect(() => {
    const opener = document.activeElement;
    const dialog = element.current;
    dialog?.showModal();
    return () => {
      away.current = true;
      dialog?.close();
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={wide ? 'dialog dialog-wide' : 'dialog'}
      aria-labelledby={heading}
      onCancel={(cancel) => {
        cancel.preventDefault();
        onClose();
      }}
      onClose={() => {
        if (!away.current) onClose();
      }}
      onClick={(click) => {
        if (click.target === element.current) onClose();
      }}
    >
      <div class="dialog-frame">
        <header class="dialog-head">
          <h2 id={heading}>{title}</h2>
          <button type="button" class="icon-button" aria-label="Close" onClick={onClose}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}

interface ConfirmProps {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly action: string;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Asks before something that cannot be undone. The way back has the focus. */
export function Confirm({ title, children, action, onConfirm, onClose }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="dialog-body">{children}</div>
      <footer class="dialog-foot">
        <button type="button" class="button" autofocus onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          class="button button-bad"
          onClick={() => {
            onClose();
            onConfirm();
          }}
        >
          {action}
        </button>
      </footer>
    </Dialog>
  );
}
