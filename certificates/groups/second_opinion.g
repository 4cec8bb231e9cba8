# The second opinion of GAP on a certificate of a group margin: what certificates/groups/second_opinion.py evaluates.
#
# A function of one record, the numbers of a document (points, classes and characters counted from 1). GAP forms the
# group from the generators, its classes, its characters and their indicators by algorithms of its own, compares them
# with the document, and from ITS characters recomputes both bounds of the margin, in exact arithmetic: cyclotomic
# numbers for characters, and for sums q sqrt(m) lists of pairs [ m, q ] with different squarefree m, whose signs are
# decided by integers on both sides. The masses and weights of the document are used as two vectors that prove something
# if and only if the inequalities hold; the closed form is computed without them.
#
# The game is written over real representations: a character chi of degree d and indicator 1 stands for one of dimension
# nu = d, any other for one of dimension nu = 2 d; its payoff at the class C is nu^(-(k-1)/2) (1 - Re chi(C) / d).
#
# The result is a list of findings [ subject, agrees, text ], ended by the first part that leaves nothing to compare.

function( document )
    local findings, report, combine, root, times_root, sign, written, group, table, count, classes, place, p, c, i,
          orders, same, irr, rows, row, position, trivial, indicators, degrees, w, real, y, u, roots, m, defect, total,
          pairs, worst, lower, upper, exact, scale, margin, compare, spectral, condition, k, n, d, nu, R, holds;

    findings := [];
    report := function( subject, agrees, text )
        Add( findings, [ subject, agrees, text ] );
        return agrees;
    end;

    # ---- sums of square roots

    combine := function( pairs )  # the sum of q sqrt(m) over pairs [ m, q ]: one pair for each m, none with q = 0
        local result, m, q;
        result := [];
        for m in Set( pairs, pair -> pair[1] ) do
            q := Sum( Filtered( pairs, pair -> pair[1] = m ), pair -> pair[2] );
            if q <> 0 then Add( result, [ m, q ] ); fi;
        od;
        return result;
    end;

    root := function( base, exponent )  # the square root of base^exponent as [ m, f ], which is f sqrt(m)
        local f, m, factor;
        f := base ^ QuoInt( exponent, 2 );
        m := 1;
        if exponent mod 2 = 1 then
            for factor in Collected( Factors( base ) ) do
                f := f * factor[1] ^ QuoInt( factor[2], 2 );
                m := m * factor[1] ^ ( factor[2] mod 2 );
            od;
        fi;
        return [ m, f ];
    end;

    times_root := function( sum, other )
        return combine( List( sum, pair -> [ pair[1] * other[1] / Gcd( pair[1], other[1] ) ^ 2,
                                             pair[2] * other[2] * Gcd( pair[1], other[1] ) ] ) );
    end;

    sign := function( sum )  # ends, because square roots of different squarefree numbers are linearly independent
        local bits, unit, low, high, pair, r;
        bits := 64;
        while sum <> [] do
            unit := 2 ^ bits;
            low := 0;
            high := 0;
            for pair in sum do
                r := RootInt( pair[1] * unit ^ 2, 2 );  # r <= unit sqrt(m) < r + 1
                if pair[2] > 0 then
                    low := low + pair[2] * r;
                    high := high + pair[2] * ( r + 1 );
                else
                    low := low + pair[2] * ( r + 1 );
                    high := high + pair[2] * r;
                fi;
            od;
            if low > 0 then return 1; fi;
            if high < 0 then return -1; fi;
            bits := 2 * bits;
        od;
        return 0;
    end;

    written := function( sum )  # the notation of the format for the reciprocal of a sum
        local text, pair, q;
        text := "";
        for pair in sum do
            q := pair[2];
            if text <> "" and q < 0 then
                Append( text, " - " );
                q := -q;
            elif text <> "" then
                Append( text, " + " );
            fi;
            Append( text, String( q ) );
            if pair[1] <> 1 then Append( text, Concatenation( "*sqrt(", String( pair[1] ), ")" ) ); fi;
        od;
        return Concatenation( "1/(", text, ")" );
    end;

    # ---- the group and its classes

    k := document.factors;
    group := Group( List( document.generators, PermList ) );
    n := Size( group );
    if not report( "order", n = document.order, String( n ) ) then return findings; fi;

    table := CharacterTable( group );
    classes := ConjugacyClasses( table );
    count := Length( classes );
    if count <> Length( document.representatives ) then
        report( "classes", false, Concatenation( "there are ", String( count ) ) );
        return findings;
    fi;
    orders := OrdersClassRepresentatives( table );
    place := [];  # of the classes of the document among those of GAP
    for i in [ 1 .. count ] do
        p := PermList( document.representatives[i] );
        c := First( [ 1 .. count ], c -> orders[c] = Order( p ) and p in group and p in classes[c] );
        if c = fail or c in place then
            report( "classes", false, Concatenation( "representative ", String( i - 1 ), " is of no other class" ) );
            return findings;
        fi;
        place[i] := c;
    od;
    same := place[1] = 1;
    for i in [ 1 .. count ] do
        same := same and SizesConjugacyClasses( table )[place[i]] = document.sizes[i]
            and InverseClasses( table )[place[i]] = place[document.inverses[i]]
            and PowerMap( table, 2 )[place[i]] = place[document.squares[i]];
    od;
    report( "classes", same, Concatenation( String( count ), ", their sizes, inverses and squares" ) );

    # ---- the characters

    irr := List( Irr( table ), ValuesOfClassFunction );
    position := [];  # of the rows of the document among the characters of GAP
    for i in [ 1 .. count ] do
        row := [];
        for c in [ 1 .. count ] do
            row[place[c]] := Sum( document.values[i][c], term -> term[1] * E( document.root_order ) ^ term[2] );
        od;
        R := Position( irr, row );
        if R = fail or R in position then
            report( "characters", false, Concatenation( "row ", String( i - 1 ), " is no other character" ) );
            return findings;
        fi;
        position[i] := R;
    od;
    report( "characters", true, String( count ) );
    indicators := Indicator( table, 2 );
    report( "indicators", indicators{ position } = document.indicators, String( indicators{ position } ) );

    # ---- the bounds, from GAP's characters and indicators

    degrees := List( irr, chi -> chi[1] );
    trivial := Position( irr, List( irr, chi -> 1 ) );
    real := List( irr, chi -> List( chi, x -> ( x + ComplexConjugate( x ) ) / 2 ) );
    w := [];  # of each character, [ m, f ] for f sqrt(m)
    y := [];
    u := [];
    for R in [ 1 .. count ] do
        nu := degrees[R];
        if indicators[R] <> 1 then nu := 2 * nu; fi;
        w[R] := root( nu, k - 1 );
        w[R] := [ w[R][1], w[R][2] * degrees[R] ];
        y[position[R]] := document.masses[R];
        u[place[R]] := combine( List( document.weights[R],
            pair -> [ root( pair[1], 1 )[1], pair[2] * root( pair[1], 1 )[2] ] ) );
    od;

    worst := Minimum( y );
    holds := worst >= 0 and y[trivial] = 0;
    for c in [ 2 .. count ] do
        total := Sum( [ 1 .. count ], R -> y[R] * ( degrees[R] - real[R][c] ) );
        holds := holds and IsRat( total ) and total >= 1;
    od;
    lower := combine( List( [ 1 .. count ], R -> [ w[R][1], y[R] * w[R][2] ] ) );
    if holds then total := "every class gets its margin"; else total := "a class gets less than its margin"; fi;
    report( "masses", holds, total );

    holds := u[1] = [] and ForAll( u, sum -> sign( sum ) >= 0 );
    roots := Set( Concatenation( u ), pair -> pair[1] );
    for R in Difference( [ 1 .. count ], [ trivial ] ) do
        pairs := [ w[R] ];
        for m in roots do
            total := Sum( [ 2 .. count ], c -> ( degrees[R] - real[R][c] )
                * Sum( Filtered( u[c], pair -> pair[1] = m ), pair -> pair[2] ) );
            if not IsRat( total ) then
                holds := false;
                total := 0;
            fi;
            Add( pairs, [ m, -total ] );
        od;
        holds := holds and sign( combine( pairs ) ) >= 0;
    od;
    upper := combine( Concatenation( u ) );
    if holds then total := "no representation gets more than w"; else total := "a representation gets more than w"; fi;
    report( "weights", holds, total );

    exact := lower = upper;
    report( "value", written( lower ) = document.value_lower and written( upper ) = document.value_upper
        and sign( combine( Concatenation( lower, List( upper, pair -> [ pair[1], -pair[2] ] ) ) ) ) >= 0
        and exact = document.exact, written( lower ) );

    scale := root( ( k + 1 ) * n, k + 1 );
    scale := [ scale[1], scale[2] / Factorial( k ) ];
    margin := List( [ lower, upper ], sum -> times_root( sum, scale ) );
    compare := function( decimal, reciprocal )  # the sign of decimal - 1 / reciprocal
        return sign( combine( Concatenation( [ [ 1, -1 ] ],
            List( reciprocal, pair -> [ pair[1], decimal * pair[2] ] ) ) ) );
    end;
    report( "margin", compare( document.lower, margin[1] ) <= 0
        and compare( document.lower + document.steps[1], margin[1] ) > 0
        and compare( document.upper, margin[2] ) >= 0
        and compare( document.upper - document.steps[2], margin[2] ) < 0
        and document.steps[1] = document.steps[2]
        and ( exact and document.margin_exact = written( margin[1] ) or not exact and document.margin_exact = "" ),
        written( margin[1] ) );

    # ---- the closed form, which uses no mass and no weight: 1/v = S/n if no condition sum is positive, else 1/v < S/n

    spectral := combine( List( Difference( [ 1 .. count ], [ trivial ] ), R -> [ w[R][1], degrees[R] * w[R][2] / n ] ) );
    condition := List( [ 2 .. count ], c -> sign( combine( List( Difference( [ 1 .. count ], [ trivial ] ),
        R -> [ w[R][1], w[R][2] * real[R][c] ] ) ) ) );
    total := combine( Concatenation( spectral, List( upper, pair -> [ pair[1], -pair[2] ] ) ) );
    if not 1 in condition and exact then
        report( "closed form", total = [], "is the value" );
    elif not 1 in condition then
        pairs := combine( Concatenation( lower, List( spectral, pair -> [ pair[1], -pair[2] ] ) ) );
        report( "closed form", sign( total ) >= 0 and sign( pairs ) >= 0, "is the value" );
    else
        report( "closed form", sign( total ) > 0, "is below the value" );
    fi;
    return findings;
end
