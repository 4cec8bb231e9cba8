(* Reads a document, as words, from the file that is named; asks the extracted program about it; prints its claim.

   The words are the constructor of Decide.v and its arguments in order: integers in decimal, a list as its length and
   its members, a rational number as numerator and denominator, a record as its fields. What is printed is made from
   the values that the program decided about, in the words of Statement.v. Status 0: accepted, 1: refused, 2: neither.
*)

open Decide

exception Malformed of string

let words =
  let file = open_in_bin Sys.argv.(1) in
  let text = really_input_string file (in_channel_length file) in
  let spaced = String.map (fun c -> if c = '\n' then ' ' else c) text in
  ref (List.filter (( <> ) "") (String.split_on_char ' ' spaced))

let word () =
  match !words with
  | [] -> raise (Malformed "The document ends too early.")
  | first :: rest -> words := rest; first

(* ---- numbers: those of Coq, with its own operations *)

let rec positive i = if i = 1 then XH else if i land 1 = 1 then XI (positive (i / 2)) else XO (positive (i / 2))
let small i = if i = 0 then Z0 else Zpos (positive i)
let ten = small 10

let digits text =
  if text = "" then raise (Malformed "A number has no digits.");
  let next n c =
    if c < '0' || c > '9' then raise (Malformed ("No number: " ^ text));
    Z.add (Z.mul n ten) (small (Char.code c - Char.code '0')) in
  Seq.fold_left next Z0 (String.to_seq text)

let integer () =
  let text = word () in
  if text.[0] = '-' then Z.opp (digits (String.sub text 1 (String.length text - 1))) else digits text

let above_zero () = match integer () with Zpos p -> p | _ -> raise (Malformed "A number is not positive.")

let rec decimal n =
  let rec value = function XH -> 1 | XO p -> 2 * value p | XI p -> 2 * value p + 1 in
  match n with
  | Z0 -> "0"
  | Zneg p -> "-" ^ decimal (Zpos p)
  | Zpos _ ->
      let rec from n last =
        if n = Z0 then last
        else
          let rest, digit = Z.div_eucl n ten in
          from rest (string_of_int (match digit with Zpos p -> value p | _ -> 0) :: last) in
      String.concat "" (from n [])

let length_ () =
  match int_of_string_opt (word ()) with
  | Some i when i >= 0 -> i
  | _ -> raise (Malformed "An index or a length is no number.")

let index () =
  let rec nat n = function 0 -> n | i -> nat (S n) (i - 1) in
  let i = length_ () in
  if i > 10000 then raise (Malformed "An index is above 10000.") else nat O i

let rec of_nat = function O -> 0 | S n -> 1 + of_nat n

(* ---- what a document is made of; arguments are read from left to right by the lets *)

let many one = List.init (length_ ()) (fun _ -> one ())
let integers () = many integer

let quotient () = let qnum = integer () in let qden = above_zero () in { qnum; qden }

let kind () =
  match word () with
  | "Plane" -> Plane
  | "Degree4" -> Degree4
  | "Degree6" -> Degree6
  | other -> raise (Malformed ("No kind of proof: " ^ other))

let proof () =
  let proof_kind = kind () in
  let proof_t = quotient () in
  let proof_t_prime = quotient () in
  let denominator = above_zero () in
  let matrix = many integers in
  let rounding = match integer () with Z0 -> N0 | Zpos p -> Npos p | Zneg _ -> raise (Malformed "No rounding.") in
  { proof_kind; proof_t; proof_t_prime; denominator; matrix; rounding }

let certificate () = let multipliers = integers () in let upper_proof = proof () in { multipliers; upper_proof }

let part () =
  let part_multipliers = integers () in
  let part_denominator = above_zero () in
  let part_proof = proof () in
  { part_multipliers; part_denominator; part_proof }

let neuron () =
  let mass = integer () in
  let zu = integers () in
  let zv = integers () in
  let zw = integers () in
  { mass; zu; zv; zw }

let network () = many neuron

let table () =
  let rows = index () in
  let columns = index () in
  let labels = index () in
  let cell () = let a = index () in let b = index () in let y = index () in ((a, b), y) in
  let given = many cell in
  { rows; columns; labels; given }

let cell () = let a = index () in let b = index () in let y = index () in (a, b, y)

let document () =
  let name = word () in
  let t = table () in
  match name with
  | "Between" ->
      let cert = certificate () in
      let bits = integer () in
      let net = network () in
      let p = integer () in
      let q = integer () in
      let p' = integer () in
      Between (t, cert, bits, net, p, q, p', above_zero ())
  | "Exactly" ->
      let cert = certificate () in
      let m = integer () in
      let common = integer () in
      let net = network () in
      let p = integer () in
      Exactly (t, cert, m, common, net, p, above_zero ())
  | "Right" ->
      let a, b, y = cell () in
      let p = integer () in
      let q = above_zero () in
      let parts = many part in
      let bits = integer () in
      let net = network () in
      let p' = integer () in
      Right (t, a, b, y, p, q, parts, bits, net, p', integer ())
  | "Wrong" ->
      let a, b, y = cell () in
      let p = integer () in
      let q = above_zero () in
      let weights = integers () in
      let one = part () in
      let bits = integer () in
      let net = network () in
      let p' = integer () in
      Wrong (t, a, b, y, p, q, weights, one, bits, net, p', integer ())
  | "Both" ->
      let a, b, y = cell () in
      let c = index () in
      let cert = certificate () in
      let p' = integer () in
      let q' = above_zero () in
      let p = integer () in
      let q = integer () in
      let bits1 = integer () in
      let right_bits = integer () in
      let net1 = network () in
      let p1 = integer () in
      let q1 = integer () in
      let bits2 = integer () in
      let wrong_bits = integer () in
      let net2 = network () in
      let p2 = integer () in
      let q2 = integer () in
      Both (t, a, b, y, c, cert, p', q', p, q, bits1, right_bits, net1, p1, q1, bits2, wrong_bits, net2, p2, q2)
  | other -> raise (Malformed ("No document: " ^ other))

(* ---- the claim, as [claimed] of Decide.v has it *)

let natural n = string_of_int (of_nat n)

let shown_table t =
  let cell ((a, b), y) = Printf.sprintf "(%s, %s, %s)" (natural a) (natural b) (natural y) in
  Printf.sprintf "Table %s %s %s [%s]" (natural t.rows) (natural t.columns) (natural t.labels)
    (String.concat "; " (List.map cell t.given))

let real p q = Printf.sprintf "(%s / %s)" (decimal p) (decimal q)
let attained g = Printf.sprintf "(exists net, normalized_margin_at_least T %s net)" g

let one_verdict word a b y p q p' q' =
  let g, h = (real p (Zpos q), real p' q') in
  Printf.sprintf
    "not_given T %s %s /\\ %s <= %s /\\ %s /\\ (forall net, normalized_margin_at_least T %s net -> %s T %s %s %s net)"
    (natural a) (natural b) g h (attained h) g word (natural a) (natural b) (natural y)

let claim = function
  | Between (t, _, _, _, p, q, p', q') ->
      (t, Printf.sprintf "maximum_margin_between T %s %s" (real p q) (real p' (Zpos q')))
  | Exactly (t, _, m, _, _, p, q) ->
      let value = Printf.sprintf "(%s * sqrt %s)" (real p (Zpos q)) (decimal m) in
      (t, Printf.sprintf "maximum_margin_between T %s %s" value value)
  | Right (t, a, b, y, p, q, _, _, _, p', q') -> (t, one_verdict "right_at" a b y p q p' q')
  | Wrong (t, a, b, y, p, q, _, _, _, _, p', q') -> (t, one_verdict "wrong_at" a b y p q p' q')
  | Both (t, a, b, y, _, _, p', q', p, q, _, _, _, _, _, _, _, _, _, _) ->
      let seen word =
        Printf.sprintf "(exists net, normalized_margin_at_least T %s net /\\ %s T %s %s %s net)" (real p q) word
          (natural a) (natural b) (natural y) in
      (t, Printf.sprintf
        "not_given T %s %s /\\ (forall net g, normalized_margin_at_least T g net -> g <= %s) /\\ %s /\\ %s"
        (natural a) (natural b) (real p' (Zpos q')) (seen "right_at") (seen "wrong_at"))

let () =
  match
    let read = document () in
    if !words <> [] then raise (Malformed "There are words after the document.");
    (accepted read, claim read)
  with
  | fine, (t, statement) ->
      print_endline (if fine then "accepted" else "refused");
      print_endline (shown_table t);
      print_endline statement;
      exit (if fine then 0 else 1)
  | exception Malformed reason -> prerr_endline reason; exit 2
  | exception Stack_overflow -> prerr_endline "The stack is too small for this document."; exit 2
